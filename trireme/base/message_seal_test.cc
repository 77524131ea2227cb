// SPDX-License-Identifier: Apache-2.0
// Tests of the seals of messages.
#include "trireme/base/message_seal.h"

#include <gtest/gtest.h>

#include <string>

namespace trireme {
namespace {

const std::string kKey = "0123456789abcdef";

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(MessageSeal, BothEndsAgreeMessageByMessage) {
  MessageSeal writer(kKey);
  MessageSeal reader(kKey);
  for (const std::string text : {"", "x", "a longer message than a block of sixteen bytes"})
    EXPECT_TRUE(MessageSeal::equal(writer.next(bytes("head"), bytes(text)), reader.next(bytes("head"), bytes(text)))) << text;
}

TEST(MessageSeal, EveryBitCounts) {
  std::string text(300, 'x');
  const auto right = MessageSeal(kKey).next(bytes("head"), bytes(text));
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(MessageSeal::equal(MessageSeal(kKey).next(bytes("head"), bytes(text)), right)) << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  }
  EXPECT_FALSE(MessageSeal::equal(MessageSeal(kKey).next(bytes("heaD"), bytes(text)), right));
  EXPECT_FALSE(MessageSeal::equal(MessageSeal("0123456789abcdeF").next(bytes("head"), bytes(text)), right));
}

// The same message again has another tag, so one that was recorded can't be played back.
TEST(MessageSeal, ARepeatedMessageHasAnotherTag) {
  MessageSeal writer(kKey);
  const auto first = writer.next({}, bytes("the same"));
  EXPECT_FALSE(MessageSeal::equal(first, writer.next({}, bytes("the same"))));
}

// NIST's GCM test vector with 20 bytes that are not encrypted would need its own nonce; ours are numbers, so the oracle is
// AES(0 key, nonce 0, counter 1), the tag of nothing under the zero key (SP 800-38D, test case 1).
TEST(MessageSeal, IsGmac) {
  const auto tag = MessageSeal(std::string(16, '\0')).next({}, {});
  std::string hex;
  for (const std::byte b : tag) {
    hex += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    hex += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  EXPECT_EQ(hex, "58e2fccefa7e3061367f1d57a4e7455a");
}

}  // namespace
}  // namespace trireme
