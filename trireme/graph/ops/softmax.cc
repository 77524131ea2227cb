// SPDX-License-Identifier: Apache-2.0
// softmax: y[i] = exp(x[i]) / sum over j of exp(x[j]), of a vector.
#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Definition define(const std::any&, std::span<const Shape> inputs) {
  if (inputs[0].rank() != 1)
    throw Error{invalid_argument, "needs a vector, the input is {}; put a flatten layer before it", inputs[0].to_string()};
  return {.shape = inputs[0]};
}

Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 5, 4); }

void reference(const std::any&, const ReferenceCall& call) {
  const std::int64_t count = call.output_shape[0];
  for (std::int64_t n = 0; n < call.batch; ++n) {
    const double* x = call.inputs[0] + n * count;
    double* y = call.output + n * count;
    const double highest = *std::max_element(x, x + count);
    std::transform(x, x + count, y, [&](double value) { return std::exp(value - highest); });
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += y[i];
    for (std::int64_t i = 0; i < count; ++i) y[i] /= sum;
  }
}

std::vector<Example> examples() { return {{NoOptions{}, {{10}}}, {NoOptions{}, {{17}}}, {NoOptions{}, {{1}}}}; }

}  // namespace

OpEntry softmax() {
  return {.name = "softmax",
          .summary = "turns a vector into probabilities",
          .options = options_type<NoOptions>(),
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
