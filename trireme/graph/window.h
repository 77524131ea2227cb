// SPDX-License-Identifier: Apache-2.0
// Where a sliding window (convolution, pooling) stands along one axis.
#pragma once

#include <cstdint>
#include <string_view>

#include "trireme/graph/op_options.h"

namespace trireme::graph {

struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t before = 0;  // padding
  std::int64_t after = 0;
  std::int64_t outputs = 0;
};

// Throws invalid_argument if the window doesn't fit into `extent`.
Window window_over(std::int64_t extent, std::int64_t kernel, std::int64_t stride, const Padding& padding);

}  // namespace trireme::graph
