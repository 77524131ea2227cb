// SPDX-License-Identifier: Apache-2.0
// concat: the channels of its inputs, one after another.
#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

bool equal_but_channels(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

Definition define(const std::any&, std::span<const Shape> inputs) {
  std::vector<std::int64_t> extents(inputs[0].begin(), inputs[0].end());
  extents[0] = 0;
  for (const Shape& input : inputs) {
    if (!equal_but_channels(input, inputs[0]))
      throw Error{invalid_argument, "inputs {} and {} differ in more than their channels", inputs[0].to_string(), input.to_string()};
    extents[0] += input[0];
  }
  return {.shape = Shape(std::move(extents))};
}

Cost cost(const std::any&, std::span<const Shape>, const Shape&) { return {}; }

void reference(const std::any&, const ReferenceCall& call) {
  double* y = call.output;
  for (std::int64_t n = 0; n < call.batch; ++n) {
    for (std::size_t input = 0; input < call.inputs.size(); ++input) {
      const std::int64_t count = call.input_shapes[input].count();
      y = std::copy_n(call.inputs[input] + n * count, count, y);
    }
  }
}

std::vector<Example> examples() {
  return {{NoOptions{}, {{5, 4, 3}, {7, 4, 3}}},
          {NoOptions{}, {{24, 4, 4}, {12, 4, 4}}},
          {NoOptions{}, {{16, 3, 3}, {32, 3, 3}, {1, 3, 3}}},
          {NoOptions{}, {{3, 5}, {4, 5}}},
          {NoOptions{}, {{9}, {2}, {17}}}};
}

}  // namespace

OpEntry concat() {
  return {.name = "concat",
          .summary = "the channels of several inputs, one after another",
          .options = options_type<NoOptions>(),
          .min_inputs = 2,
          .max_inputs = 64,
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
