// SPDX-License-Identifier: Apache-2.0
// Tests of shapes: sizes, comparison, text.
#include "trireme/tensor/shape.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Shape, CountsAndPrints) {
  EXPECT_EQ(Shape({64, 12, 12}).count(), 9216);
  EXPECT_EQ(Shape({64, 12, 12}).to_string(), "64x12x12");
  EXPECT_EQ(Shape({7}).to_string(), "7");
  EXPECT_EQ(Shape().count(), 1);
  EXPECT_EQ(Shape().to_string(), "scalar");
}

TEST(Shape, ComparesRankAndExtents) {
  EXPECT_EQ(Shape({2, 3}), Shape(std::vector<std::int64_t>{2, 3}));
  EXPECT_NE(Shape({6}), Shape({2, 3}));
  EXPECT_NE(Shape({3, 2}), Shape({2, 3}));
}

}  // namespace
}  // namespace trireme
