// SPDX-License-Identifier: Apache-2.0
// Windows, definition and examples that all pooling ops share.
#include "trireme/graph/pooling.h"

namespace trireme::graph {
namespace {

Window pooling_window(const PoolOptions& o, std::int64_t extent) {
  if (o.padding.mode == "explicit" && o.padding.amount >= o.kernel)
    throw Error{invalid_argument, "pad = {} must be less than kernel = {}, or a window would see nothing", o.padding.amount, o.kernel};
  return window_over(extent, o.kernel, o.stride == 0 ? o.kernel : o.stride, o.padding);
}

}  // namespace

Axes pooling_axes(const PoolOptions& o, const Shape& x) {
  if (x.rank() == 2) return {.channels = x[0], .rows = {.outputs = 1}, .columns = pooling_window(o, x[1]), .height = 1, .width = x[1]};
  if (x.rank() == 3)
    return {.channels = x[0], .rows = pooling_window(o, x[1]), .columns = pooling_window(o, x[2]), .height = x[1], .width = x[2]};
  throw Error{invalid_argument, "needs an image (channels x height x width) or a sequence (channels x width), the input is {}",
              x.to_string()};
}

Definition define_pooling(const std::any& options, std::span<const Shape> inputs) {
  const Axes axes = pooling_axes(std::any_cast<const PoolOptions&>(options), inputs[0]);
  if (inputs[0].rank() == 2) return {.shape = {axes.channels, axes.columns.outputs}};
  return {.shape = {axes.channels, axes.rows.outputs, axes.columns.outputs}};
}

Patch patch_at(const Axes& axes, std::int64_t row, std::int64_t column) {
  const std::int64_t top = row * axes.rows.stride - axes.rows.before;
  const std::int64_t left = column * axes.columns.stride - axes.columns.before;
  return {.top = std::max<std::int64_t>(top, 0),
          .bottom = std::min(top + axes.rows.kernel, axes.height),
          .left = std::max<std::int64_t>(left, 0),
          .right = std::min(left + axes.columns.kernel, axes.width)};
}

std::vector<Example> pooling_examples() {
  return {
      {PoolOptions{.kernel = 2}, {{5, 6, 8}}},
      {PoolOptions{.kernel = 3, .stride = 2}, {{17, 9, 7}}},
      {PoolOptions{.kernel = 3, .stride = 2, .padding = Padding::same()}, {{3, 8, 7}}},
      {PoolOptions{.kernel = 3, .stride = 1, .padding = Padding::same()}, {{16, 5, 4}}},
      {PoolOptions{.kernel = 3, .stride = 2, .padding = Padding::of(1)}, {{32, 8, 8}}},
      {PoolOptions{.kernel = 2, .stride = 3}, {{4, 7, 5}}},
      {PoolOptions{.kernel = 3, .stride = 2, .padding = Padding::same()}, {{6, 11}}},
  };
}

}  // namespace trireme::graph
