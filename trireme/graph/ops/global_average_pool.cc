// SPDX-License-Identifier: Apache-2.0
// global_average_pool: y[c] = the mean of channel c.
#include "trireme/base/error.h"
#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Definition define(const std::any&, std::span<const Shape> inputs) {
  if (inputs[0].rank() < 2)
    throw Error{invalid_argument, "needs an image (channels x height x width) or a sequence (channels x width), the input is {}",
                inputs[0].to_string()};
  return {.shape = {inputs[0][0]}};
}

Cost cost(const std::any&, std::span<const Shape> inputs, const Shape&) { return cost_per_value(inputs[0], 1, 1); }

void reference(const std::any&, const ReferenceCall& call) {
  const std::int64_t channels = call.output_shape[0];
  const std::int64_t area = call.input_shapes[0].count() / channels;
  for (std::int64_t plane = 0; plane < call.batch * channels; ++plane) {
    double sum = 0;
    for (std::int64_t i = 0; i < area; ++i) sum += call.inputs[0][plane * area + i];
    call.output[plane] = sum / static_cast<double>(area);
  }
}

std::vector<Example> examples() {
  return {{NoOptions{}, {{5, 4, 3}}}, {NoOptions{}, {{17, 7, 7}}}, {NoOptions{}, {{64, 8, 8}}}, {NoOptions{}, {{6, 11}}}};
}

}  // namespace

OpEntry global_average_pool() {
  return {.name = "global_average_pool",
          .summary = "the mean of each channel",
          .options = options_type<NoOptions>(),
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
