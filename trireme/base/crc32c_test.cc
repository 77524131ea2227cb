// SPDX-License-Identifier: Apache-2.0
// CRC-32C against the published vectors of RFC 3720, and a frame byte by byte.
#include "trireme/base/crc32c.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Crc32c, PublishedVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(crc32c(rising), 0x46dd794eU);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, AFrameHasLengthAndTwoSums) {
  const std::string frame = framed_record("abc");
  ASSERT_EQ(frame.size(), kRecordHeader + 3 + kRecordFooter);
  EXPECT_EQ(frame.substr(0, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(frame.substr(12, 3), "abc");
}

}  // namespace
}  // namespace trireme
