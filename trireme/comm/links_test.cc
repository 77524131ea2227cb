// SPDX-License-Identifier: Apache-2.0
// A connection whose bytes are changed on the way: never a wrong value, always a fault that names the peer.
#include "trireme/comm/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "trireme/base/thrown_error.h"

namespace trireme::comm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kTag = 7;
const std::string kContents = "gradients of rank 0, forty bytes of them";

// Rank 0's link and what it puts on the wire; rank 1's link and what it finds there.
struct Wire {
  Wire() {
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, left.data());
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, right.data());
  }
  ~Wire() {
    ::close(left[1]);
    ::close(right[1]);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  Links sender() { return links(0, left[0], {.sending = std::string(16, 'a'), .receiving = std::string(16, 'b')}); }
  Links receiver() { return links(1, right[0], {.sending = std::string(16, 'b'), .receiving = std::string(16, 'a')}); }

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

  std::array<int, 2> left{};
  std::array<int, 2> right{};
};

std::string sent_message() {
  Wire wire;
  Links links = wire.sender();
  Completions done = 0;
  links.send(1, {kTag, kContents.size()}, kContents.data(), done);
  return wire.sent();
}

// The contents as rank 1 gets them, or the fault.
std::string received(const std::string& bytes, std::uint64_t tag = kTag) {
  Wire wire;
  Links links = wire.receiver();
  std::string memory(kContents.size(), '?');
  Completions done = 0;
  links.receive(0, {tag, memory.size()}, memory.data(), done);
  wire.deliver(bytes);
  const std::string fault = thrown_error([&] { links.wait(done, 1); });
  return fault == "no error" ? memory : fault;
}

TEST(Links, CarryMessages) { EXPECT_EQ(received(sent_message()), kContents); }

TEST(Links, EveryChangedBitIsFound) {
  const std::string good = sent_message();
  ASSERT_EQ(good.size(), 24 + kContents.size() + 16);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(received(bad), StartsWith("unavailable: what rank 0 has sent was changed on its way")) << "bit " << bit;
  }
}

TEST(Links, AMessagePlayedBackIsFound) {
  Wire wire;
  Links links = wire.receiver();
  std::string memory(kContents.size(), '?');
  Completions done = 0;
  for (int i = 0; i < 2; ++i) links.receive(0, {kTag, memory.size()}, memory.data(), done);
  const std::string message = sent_message();
  wire.deliver(message + message);
  EXPECT_THAT(thrown_error([&] { links.wait(done, 2); }), HasSubstr("changed on its way"));
}

TEST(Links, MissingBytesAreWaitedForAndThenAFault) {
  const std::string good = sent_message();
  EXPECT_THAT(received(good.substr(0, good.size() - 1)), StartsWith("deadline_exceeded: rank 0 kept silent"));
  EXPECT_THAT(received(good.substr(1) + "x"), HasSubstr("changed on its way"));
}

TEST(Links, AnotherCallIsNoChangedByte) {
  EXPECT_THAT(received(sent_message(), kTag + 1), StartsWith("internal: rank 0 has sent 40 bytes with tag 7"));
}

}  // namespace
}  // namespace trireme::comm
