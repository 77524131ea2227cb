// SPDX-License-Identifier: Apache-2.0
// sigmoid: y = 1 / (1 + exp(-x)).
#include <cmath>

#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 4, 3); }

void reference(const std::any&, const ReferenceCall& call) {
  map_values(call, [](double x) { return 1 / (1 + std::exp(-x)); });
}

}  // namespace

OpEntry sigmoid() {
  return {.name = "sigmoid",
          .summary = "squashes to 0..1",
          .options = options_type<NoOptions>(),
          .define = same_shape,
          .cost = cost,
          .reference = reference,
          .examples = elementwise_examples};
}

}  // namespace trireme::graph::ops
