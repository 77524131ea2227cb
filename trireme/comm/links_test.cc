// SPDX-License-Identifier: Apache-2.0
// A connection whose bytes are changed on the way: never a wrong value, always a fault that names the peer.
#include "trireme/comm/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::comm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kTag = 7;
const std::string kContents = "gradients of rank 0, forty bytes of them";

// Rank 0's link and what it puts on the wire; rank 1's link and what it finds there.
struct Wire {
  explicit Wire(bool encrypts) : encrypt(encrypts) {
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, left.data());
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, right.data());
  }
  ~Wire() {
    ::close(left[1]);
    ::close(right[1]);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  Links sender() { return links(0, left[0], {.sending = std::string(16, 'a'), .receiving = std::string(16, 'b'), .encrypt = encrypt}); }
  Links receiver() { return links(1, right[0], {.sending = std::string(16, 'b'), .receiving = std::string(16, 'a'), .encrypt = encrypt}); }

  static Links links(int rank, int descriptor, PairKeys keys) {
    std::vector<Connection> connections(2);
    connections[static_cast<std::size_t>(1 - rank)] = {Socket(descriptor), std::move(keys)};
    Links made(rank, std::move(connections));
    made.set_patience(Seconds{0.05});
    return made;
  }
  std::string sent() const {
    std::string bytes(10000, '\0');
    const ssize_t count = ::read(left[1], bytes.data(), bytes.size());
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }
  void deliver(const std::string& bytes) const { ASSERT_EQ(::write(right[1], bytes.data(), bytes.size()), std::ssize(bytes)); }

  bool encrypt;
  std::array<int, 2> left{};
  std::array<int, 2> right{};
};

std::string sent_message(bool encrypt) {
  Wire wire(encrypt);
  Links links = wire.sender();
  Completions done = 0;
  links.send(1, {kTag, kContents.size()}, kContents.data(), done);
  return wire.sent();
}

// The contents as rank 1 gets them, or the fault.
std::string received(const std::string& bytes, bool encrypt, std::uint64_t tag = kTag) {
  Wire wire(encrypt);
  Links links = wire.receiver();
  std::string memory(kContents.size(), '?');
  Completions done = 0;
  links.receive(0, {tag, memory.size()}, memory.data(), done);
  wire.deliver(bytes);
  const std::string fault = thrown_error([&] { links.wait(done, 1); });
  return fault == "no error" ? memory : fault;
}

constexpr std::array<bool, 2> kSealedAndEncrypted{false, true};

TEST(Links, CarryMessages) {
  for (const bool encrypt : kSealedAndEncrypted) EXPECT_EQ(received(sent_message(encrypt), encrypt), kContents);
}

TEST(Links, OnlyEncryptedContentsCannotBeRead) {
  EXPECT_THAT(sent_message(false), HasSubstr(kContents));
  EXPECT_THAT(sent_message(true), testing::Not(HasSubstr(kContents.substr(0, 4))));
}

TEST(Links, EveryChangedBitIsFound) {
  for (const bool encrypt : kSealedAndEncrypted) {
    const std::string good = sent_message(encrypt);
    ASSERT_EQ(good.size(), 24 + kContents.size() + 16);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      EXPECT_THAT(received(bad, encrypt), StartsWith("unavailable: what rank 0 has sent was changed on its way")) << "bit " << bit;
    }
  }
}

TEST(Links, AMessagePlayedBackIsFound) {
  for (const bool encrypt : kSealedAndEncrypted) {
    Wire wire(encrypt);
    Links links = wire.receiver();
    std::string memory(kContents.size(), '?');
    Completions done = 0;
    for (int i = 0; i < 2; ++i) links.receive(0, {kTag, memory.size()}, memory.data(), done);
    const std::string message = sent_message(encrypt);
    wire.deliver(message + message);
    EXPECT_THAT(thrown_error([&] { links.wait(done, 2); }), HasSubstr("changed on its way"));
  }
}

TEST(Links, MissingBytesAreWaitedForAndThenAFault) {
  for (const bool encrypt : kSealedAndEncrypted) {
    const std::string good = sent_message(encrypt);
    EXPECT_THAT(received(good.substr(0, good.size() - 1), encrypt), StartsWith("deadline_exceeded: rank 0 kept silent"));
    EXPECT_THAT(received(good.substr(1) + "x", encrypt), HasSubstr("changed on its way"));
  }
}

TEST(Links, AnotherCallIsNoChangedByte) {
  for (const bool encrypt : kSealedAndEncrypted)
    EXPECT_THAT(received(sent_message(encrypt), encrypt, kTag + 1), StartsWith("internal: rank 0 has sent 40 bytes with tag 7"));
}

// A socket that takes a few bytes now and then: chunks are sent in pieces, and messages behind each other.
TEST(Links, LongMessagesPassASmallSocket) {
  for (const bool encrypt : kSealedAndEncrypted) {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
    Links sender = Wire::links(0, pair[0], {.sending = std::string(16, 'a'), .receiving = std::string(16, 'b'), .encrypt = encrypt});
    Links receiver = Wire::links(1, pair[1], {.sending = std::string(16, 'b'), .receiving = std::string(16, 'a'), .encrypt = encrypt});
    sender.set_patience(Seconds{20});
    receiver.set_patience(Seconds{20});
    std::vector<std::string> messages;
    for (const std::size_t length : {0U, 1U, 131072U, 131073U, 700001U, 5U})
      for (std::string& made = messages.emplace_back(length, '\0'); char& c : made) c = static_cast<char>((&c - made.data()) * 31);
    std::vector<std::string> arrived;
    for (const auto& message : messages) arrived.emplace_back(message.size(), '?');
    const std::jthread sending([&] {
      Completions sent = 0;
      for (const auto& message : messages) sender.send(1, {kTag, message.size()}, message.data(), sent);
      sender.wait(sent, messages.size());
    });
    Completions done = 0;
    for (auto& memory : arrived) receiver.receive(0, {kTag, memory.size()}, memory.data(), done);
    receiver.wait(done, messages.size());
    EXPECT_EQ(arrived, messages);
  }
}

}  // namespace
}  // namespace trireme::comm
