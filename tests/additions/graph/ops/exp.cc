// SPDX-License-Identifier: Apache-2.0
// exp: y = e^x, an op that is added from outside.
#include <cmath>

#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 1, 1); }

void reference(const std::any&, const ReferenceCall& call) {
  map_values(call, [](double x) { return std::exp(x); });
}

}  // namespace

OpEntry exp() {
  return {.name = "exp",
          .summary = "the exponential function",
          .options = options_type<NoOptions>(),
          .define = same_shape,
          .cost = cost,
          .reference = reference,
          .examples = elementwise_examples};
}

}  // namespace trireme::graph::ops
