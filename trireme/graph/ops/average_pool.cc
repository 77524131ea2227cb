// SPDX-License-Identifier: Apache-2.0
// average_pool: each output is the mean of its window; as in TensorFlow, padding does not count.

#include "trireme/graph/pooling.h"

namespace trireme::graph::ops {
namespace {

Cost cost(const std::any& options, std::span<const Shape> inputs, const Shape& output) {
  const Axes axes = pooling_axes(std::any_cast<const PoolOptions&>(options), inputs[0]);
  const auto outputs = static_cast<double>(output.count());
  const double values = outputs * static_cast<double>(axes.rows.kernel * axes.columns.kernel);
  return {.forward_flops = values + outputs, .backward_flops = values + outputs};
}

double reduce(const double* x, std::int64_t width, const Patch& patch) {
  double sum = 0;
  for (std::int64_t i = patch.top; i < patch.bottom; ++i) {
    for (std::int64_t j = patch.left; j < patch.right; ++j) sum += x[i * width + j];
  }
  return sum / static_cast<double>((patch.bottom - patch.top) * (patch.right - patch.left));
}

void reference(const std::any& options, const ReferenceCall& call) {
  pool_reference(pooling_axes(std::any_cast<const PoolOptions&>(options), call.input_shapes[0]), call, reduce);
}

}  // namespace

OpEntry average_pool() {
  return {.name = "average_pool",
          .summary = "the mean of each window",
          .options = options_type<PoolOptions>(),
          .define = define_pooling,
          .cost = cost,
          .reference = reference,
          .examples = pooling_examples};
}

}  // namespace trireme::graph::ops
