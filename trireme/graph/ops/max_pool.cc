// SPDX-License-Identifier: Apache-2.0
// max_pool: each output is the greatest value of its window; padding is never the greatest.
#include <limits>

#include "trireme/graph/pooling.h"

namespace trireme::graph::ops {
namespace {

Cost cost(const std::any& options, std::span<const Shape> inputs, const Shape& output) {
  const Axes axes = pooling_axes(std::any_cast<const PoolOptions&>(options), inputs[0]);
  const auto outputs = static_cast<double>(output.count());
  const double values = outputs * static_cast<double>(axes.rows.kernel * axes.columns.kernel);
  return {.forward_flops = values, .backward_flops = outputs};
}

double reduce(const double* x, std::int64_t width, const Patch& patch) {
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = patch.top; i < patch.bottom; ++i) {
    for (std::int64_t j = patch.left; j < patch.right; ++j) greatest = std::max(greatest, x[i * width + j]);
  }
  return greatest;
}

void reference(const std::any& options, const ReferenceCall& call) {
  pool_reference(pooling_axes(std::any_cast<const PoolOptions&>(options), call.input_shapes[0]), call, reduce);
}

}  // namespace

OpEntry max_pool() {
  return {.name = "max_pool",
          .summary = "the greatest value of each window",
          .options = options_type<PoolOptions>(),
          .define = define_pooling,
          .cost = cost,
          .reference = reference,
          .examples = pooling_examples};
}

}  // namespace trireme::graph::ops
