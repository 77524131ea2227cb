// SPDX-License-Identifier: Apache-2.0
// Output extent, padding and clipped borders of a sliding window.
#include "trireme/graph/window.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::graph {

Window window_over(std::int64_t extent, std::int64_t kernel, std::int64_t stride, const Padding& padding) {
  if (padding.mode != "explicit" && padding.amount != 0)
    throw Error{invalid_argument, "pad = {} needs padding = \"explicit\", it is \"{}\"", padding.amount, padding.mode};
  Window window{.kernel = kernel, .stride = stride};
  if (padding.mode == "same") {
    window.outputs = (extent + stride - 1) / stride;
    const std::int64_t total = std::max<std::int64_t>(0, (window.outputs - 1) * stride + kernel - extent);
    window.before = total / 2;
    window.after = total - window.before;
    return window;
  }
  if (padding.mode == "explicit") window.before = window.after = padding.amount;
  if (extent + window.before + window.after < kernel)
    throw Error{invalid_argument, "a window of {} does not fit into {} (padding {})", kernel, extent, window.before + window.after};
  window.outputs = (extent + window.before + window.after - kernel) / stride + 1;
  return window;
}

}  // namespace trireme::graph
