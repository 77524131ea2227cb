// SPDX-License-Identifier: Apache-2.0
// Tests of Error and ensure.
#include "trireme/base/error.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Error, KeepsCodeAndFormatsMessage) {
  const Error error{data_loss, "{}: ends after {} of {}", "a.idx", 3, 5};
  EXPECT_EQ(error.code(), data_loss);
  EXPECT_STREQ(error.what(), "a.idx: ends after 3 of 5");
}

TEST(Error, CodesAreGrpcsByNumberAndName) {
  EXPECT_EQ(static_cast<int>(unauthenticated), 16);
  EXPECT_EQ(name_of(ok), "ok");
  EXPECT_EQ(name_of(failed_precondition), "failed_precondition");
  EXPECT_EQ(name_of(unauthenticated), "unauthenticated");
}

TEST(EnsureDeathTest, AbortsWithThePlace) {
  ensure(true, "fine");
  EXPECT_DEATH(ensure(1 > 2, "one is not more than two"), "bug at .*error_test.cc:[0-9]+: one is not more than two");
}

}  // namespace
}  // namespace trireme
