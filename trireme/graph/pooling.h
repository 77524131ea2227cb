// SPDX-License-Identifier: Apache-2.0
// What max_pool and average_pool share: windows over the one or two spatial axes of each channel.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "trireme/graph/convolution.h"
#include "trireme/graph/op_entry.h"
#include "trireme/graph/op_options.h"

namespace trireme::graph {

Axes pooling_axes(const PoolOptions& o, const Shape& x);
Definition define_pooling(const std::any& options, std::span<const Shape> inputs);
std::vector<Example> pooling_examples();

// Values of a window that lie inside the image, as ranges of rows and columns.
struct Patch {
  std::int64_t top = 0;
  std::int64_t bottom = 0;
  std::int64_t left = 0;
  std::int64_t right = 0;
};
Patch patch_at(const Axes& axes, std::int64_t row, std::int64_t column);

// Calls reduce(channel's values, width, patch) for every output value in order.
template <class Reduce>
void pool_reference(const Axes& axes, const ReferenceCall& call, const Reduce& reduce) {
  double* y = call.output;
  for (std::int64_t plane = 0; plane < call.batch * axes.channels; ++plane) {
    const double* x = call.inputs[0] + plane * axes.height * axes.width;
    for (std::int64_t i = 0; i < axes.rows.outputs; ++i) {
      for (std::int64_t j = 0; j < axes.columns.outputs; ++j) *y++ = reduce(x, axes.width, patch_at(axes, i, j));
    }
  }
}

}  // namespace trireme::graph
