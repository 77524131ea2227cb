// SPDX-License-Identifier: Apache-2.0
// Digests against published values.
#include "trireme/base/digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "trireme/base/error.h"

namespace trireme {
namespace {

TEST(Digest, PublishedValues) {
  EXPECT_EQ(digest_of(Digest::Kind::md5, "abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(digest_of(Digest::Kind::sha256, "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of(Digest::Kind::sha256, ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

TEST(Hmac, PublishedValues) {  // RFC 4231, cases 1 and 2
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, NeitherKeyNorMessageMayBeEmptyByAccident) {
  EXPECT_NE(hmac_sha256("", "a"), hmac_sha256("k", "a"));
  EXPECT_NE(hmac_sha256("k", ""), hmac_sha256("k", "a"));
}

TEST(ConstantTime, Compares) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

TEST(RandomBytes, Differ) {
  EXPECT_EQ(random_bytes(32).size(), 32U);
  EXPECT_NE(random_bytes(32), random_bytes(32));
}

TEST(Digest, OfAMissingFileIsAnError) { EXPECT_THROW(digest_of_file(Digest::Kind::md5, "/no/such/file"), Error); }

}  // namespace
}  // namespace trireme
