// SPDX-License-Identifier: Apache-2.0
// relu: y = max(0, x).
#include <algorithm>

#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 1, 1); }

void reference(const std::any&, const ReferenceCall& call) {
  map_values(call, [](double x) { return std::max(0.0, x); });
}

}  // namespace

OpEntry relu() {
  return {.name = "relu",
          .summary = "the positive part",
          .options = options_type<NoOptions>(),
          .define = same_shape,
          .cost = cost,
          .reference = reference,
          .examples = elementwise_examples};
}

}  // namespace trireme::graph::ops
