// SPDX-License-Identifier: Apache-2.0
// Tests of encrypted messages: every bit counts, a repeated message looks different, the cipher is GCM.
#include "trireme/base/message_cipher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trireme {
namespace {

using Direction = MessageCipher::Direction;

const std::string kKey = "0123456789abcdef";

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::byte* memory(std::string& text) { return reinterpret_cast<std::byte*>(text.data()); }

struct Encrypted {
  std::string contents;
  MessageCipher::Tag tag{};
};

Encrypted encrypt(MessageCipher& cipher, const std::string& head, std::string contents) {
  cipher.begin(bytes(head));
  cipher.add(bytes(contents), memory(contents));
  return {contents, cipher.end()};
}

// "forged", or the contents.
std::string decrypt(MessageCipher& cipher, const std::string& head, Encrypted message) {
  cipher.begin(bytes(head));
  cipher.add(bytes(message.contents), memory(message.contents));
  return cipher.is_genuine(message.tag) ? message.contents : "forged";
}

std::string hex(std::span<const std::byte> from) {
  std::string out;
  for (const std::byte b : from) {
    out += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    out += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  return out;
}

TEST(MessageCipher, TheOtherEndReadsWhatWasWrittenMessageByMessage) {
  MessageCipher writer(kKey, Direction::encrypt);
  MessageCipher reader(kKey, Direction::decrypt);
  for (const std::string text : {"", "x", "a longer message than a block of sixteen bytes"}) {
    const Encrypted message = encrypt(writer, "head", text);
    EXPECT_TRUE(text.empty() || message.contents != text);
    EXPECT_EQ(decrypt(reader, "head", message), text);
  }
}

// As they arrive from a socket.
TEST(MessageCipher, PiecesOfAnySizeAreTheWhole) {
  std::string text(1000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  MessageCipher writer(kKey, Direction::encrypt);
  const Encrypted message = encrypt(writer, "head", text);
  for (const std::size_t size : {1, 15, 16, 17, 333, 999}) {
    MessageCipher reader(kKey, Direction::decrypt);
    std::string out = message.contents;
    reader.begin(bytes("head"));
    for (std::size_t at = 0; at < out.size(); at += size)
      reader.add(std::as_bytes(std::span(out)).subspan(at, std::min(size, out.size() - at)), memory(out) + at);
    EXPECT_TRUE(reader.is_genuine(message.tag));
    EXPECT_EQ(out, text) << size;
  }
}

TEST(MessageCipher, EveryBitCounts) {
  MessageCipher writer(kKey, Direction::encrypt);
  const Encrypted right = encrypt(writer, "head", std::string(50, 'x'));
  const auto read = [](const std::string& key, const std::string& head, const Encrypted& message) {
    MessageCipher reader(key, Direction::decrypt);
    return decrypt(reader, head, message);
  };
  ASSERT_EQ(read(kKey, "head", right), std::string(50, 'x'));
  for (std::size_t bit = 0; bit < right.contents.size() * 8; ++bit) {
    Encrypted wrong = right;
    wrong.contents[bit / 8] = static_cast<char>(wrong.contents[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(read(kKey, "head", wrong), "forged") << bit;
  }
  for (std::size_t bit = 0; bit < right.tag.size() * 8; ++bit) {
    Encrypted wrong = right;
    wrong.tag[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_EQ(read(kKey, "head", wrong), "forged") << bit;
  }
  EXPECT_EQ(read(kKey, "heaD", right), "forged");
  EXPECT_EQ(read("0123456789abcdeF", "head", right), "forged");
}

// Equal gradients in two steps must not look equal.
TEST(MessageCipher, ARepeatedMessageLooksDifferentAndCannotBePlayedBack) {
  MessageCipher writer(kKey, Direction::encrypt);
  MessageCipher reader(kKey, Direction::decrypt);
  const Encrypted first = encrypt(writer, "head", "the same");
  EXPECT_NE(encrypt(writer, "head", "the same").contents, first.contents);
  EXPECT_EQ(decrypt(reader, "head", first), "the same");
  EXPECT_EQ(decrypt(reader, "head", first), "forged");
}

// SP 800-38D, test case 2: the zero key, the zero nonce (our first), a block of zeros.
TEST(MessageCipher, IsGcm) {
  MessageCipher writer(std::string(16, '\0'), Direction::encrypt);
  const Encrypted message = encrypt(writer, "", std::string(16, '\0'));
  EXPECT_EQ(hex(bytes(message.contents)), "0388dace60b6a392f328c2b971b2fe78");
  EXPECT_EQ(hex(message.tag), "ab6e47d42cec13bdf53a67b21257bddf");
}

}  // namespace
}  // namespace trireme
