// SPDX-License-Identifier: Apache-2.0
// Tests of sliding windows against TensorFlow's published formula.
#include "trireme/graph/window.h"

#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::graph {
namespace {

// From TensorFlow's documentation of padding: it looks at the rest of extent / stride.
std::int64_t tensorflow_same_total(std::int64_t extent, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t rest = extent % stride;
  return std::max<std::int64_t>(0, rest == 0 ? kernel - stride : kernel - rest);
}

TEST(Window, SameAndValidAreTensorFlows) {
  for (std::int64_t extent = 1; extent <= 17; ++extent) {
    for (std::int64_t kernel = 1; kernel <= 7; ++kernel) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        const Window same = window_over(extent, kernel, stride, Padding::same());
        const std::int64_t total = tensorflow_same_total(extent, kernel, stride);
        EXPECT_EQ(same.outputs, (extent + stride - 1) / stride);
        EXPECT_EQ(same.before, total / 2);
        EXPECT_EQ(same.after, total - total / 2);
        if (kernel > extent) continue;
        const Window valid = window_over(extent, kernel, stride, Padding::valid());
        EXPECT_EQ(valid.outputs, (extent - kernel + stride) / stride);  // ceil((extent - kernel + 1) / stride)
        EXPECT_EQ(valid.before + valid.after, 0);
      }
    }
  }
}

TEST(Window, AnOddRestGoesToTheEnd) {
  const Window window = window_over(8, 3, 2, Padding::same());
  EXPECT_EQ(window.before, 0);
  EXPECT_EQ(window.after, 1);
}

TEST(Window, ExplicitPaddingIsOnBothSides) {
  const Window window = window_over(224, 7, 2, Padding::of(3));
  EXPECT_EQ(window.outputs, 112);
  EXPECT_EQ(window.before, 3);
  EXPECT_EQ(window.after, 3);
}

TEST(Window, ReportsWhatDoesNotFit) {
  EXPECT_EQ(thrown_error([] { window_over(2, 3, 1, Padding::valid()); }),
            "invalid_argument: a window of 3 does not fit into 2 (padding 0)");
  EXPECT_EQ(thrown_error([] { window_over(4, 3, 1, {.mode = "same", .amount = 1}); }),
            "invalid_argument: pad = 1 needs padding = \"explicit\", it is \"same\"");
}

}  // namespace
}  // namespace trireme::graph
