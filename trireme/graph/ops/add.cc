// SPDX-License-Identifier: Apache-2.0
// add: the sum of its inputs, value by value.
#include "trireme/base/error.h"
#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Definition define(const std::any&, std::span<const Shape> inputs) {
  for (const Shape& other : inputs) {
    if (other != inputs[0]) throw Error{invalid_argument, "inputs {} and {} differ", inputs[0].to_string(), other.to_string()};
  }
  return {.shape = inputs[0]};
}

// Backward only hands the gradient on.
Cost cost(const std::any&, std::span<const Shape> inputs, const Shape& output) {
  return cost_per_value(output, static_cast<double>(inputs.size() - 1), 0);
}

void reference(const std::any&, const ReferenceCall& call) {
  const std::int64_t count = call.batch * call.output_shape.count();
  for (std::int64_t i = 0; i < count; ++i) {
    call.output[i] = 0;
    for (const double* input : call.inputs) call.output[i] += input[i];
  }
}

std::vector<Example> examples() {
  return {{NoOptions{}, {{5, 4, 3}, {5, 4, 3}}},
          {NoOptions{}, {{17, 2, 3}, {17, 2, 3}, {17, 2, 3}}},
          {NoOptions{}, {{32, 4, 4}, {32, 4, 4}}},
          {NoOptions{}, {{9}, {9}}},
          {NoOptions{}, {{3, 7}, {3, 7}}}};
}

}  // namespace

OpEntry add() {
  return {.name = "add",
          .summary = "the sum of several inputs of one shape",
          .options = options_type<NoOptions>(),
          .min_inputs = 2,
          .max_inputs = 64,
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
