// SPDX-License-Identifier: Apache-2.0
// Tests of the flat parameter space.
#include "trireme/tensor/parameter_space.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(ParameterSpace, SlicesLieOneAfterAnotherWithoutGaps) {
  ParameterSpace space;
  EXPECT_EQ(space.size(), 0);
  EXPECT_EQ(space.add("conv/kernel", {4, 3, 3, 3}, 1e-4), 0U);
  EXPECT_EQ(space.add("conv/bias", {4}), 1U);
  EXPECT_EQ(space.size(), 112);
  EXPECT_EQ(space[1].offset, 108);
  EXPECT_EQ(space[1].count, 4);
  EXPECT_EQ(space[0].l2, 1e-4);
  EXPECT_EQ(space.slices().size(), 2U);
}

TEST(ParameterSpace, FindsByName) {
  ParameterSpace space;
  space.add("a", {2});
  space.add("b", {3});
  ASSERT_NE(space.find("b"), nullptr);
  EXPECT_EQ(space.find("b")->offset, 2);
  EXPECT_EQ(space.find("c"), nullptr);
}

}  // namespace
}  // namespace trireme
