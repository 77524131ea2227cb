// SPDX-License-Identifier: Apache-2.0
// Digests against published values.
#include "trireme/base/digest.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme {
namespace {

TEST(Digest, PublishedValues) {
  EXPECT_EQ(digest_of(Digest::Kind::md5, "abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(digest_of(Digest::Kind::sha256, "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of(Digest::Kind::sha256, ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, OfAMissingFileIsAnError) { EXPECT_THROW(digest_of_file(Digest::Kind::md5, "/no/such/file"), Error); }

}  // namespace
}  // namespace trireme
