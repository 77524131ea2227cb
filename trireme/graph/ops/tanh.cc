// SPDX-License-Identifier: Apache-2.0
// tanh: y = tanh(x).
#include <cmath>

#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 4, 3); }

void reference(const std::any&, const ReferenceCall& call) {
  map_values(call, [](double x) { return std::tanh(x); });
}

}  // namespace

OpEntry tanh() {
  return {.name = "tanh",
          .summary = "squashes to -1..1",
          .options = options_type<NoOptions>(),
          .define = same_shape,
          .cost = cost,
          .reference = reference,
          .examples = elementwise_examples};
}

}  // namespace trireme::graph::ops
