// SPDX-License-Identifier: Apache-2.0
// The examples of RFC 4648, and bytes above 127.
#include "trireme/base/base64.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Base64, WritesTheExamplesOfItsStandard) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace trireme
