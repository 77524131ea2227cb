// SPDX-License-Identifier: Apache-2.0
// scale: y = factor * x + offset, with fixed numbers: from a network's small outputs to the units of what it predicts.
#include "trireme/graph/elementwise.h"
#include "trireme/graph/scale_options.h"

namespace trireme::graph {

void describe(ScaleOptions& o, OptionVisitor& visit) {
  visit("factor", o.factor, "multiplies each value", -1e30, 1e30);
  visit("offset", o.offset, "is added afterwards", -1e30, 1e30);
}

namespace ops {
namespace {

Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 2, 1); }

void reference(const std::any& options, const ReferenceCall& call) {
  const auto& o = std::any_cast<const ScaleOptions&>(options);
  map_values(call, [&](double x) { return o.factor * x + o.offset; });
}

std::vector<Example> examples() {
  return {{ScaleOptions{.factor = 3, .offset = -2}, {{7}}},
          {ScaleOptions{.factor = -0.5, .offset = 1.5}, {{5, 6, 8}}},
          {ScaleOptions{.factor = 2}, {{3, 9}}}};
}

}  // namespace

OpEntry scale() {
  return {.name = "scale",
          .summary = "factor * x + offset, with numbers that are not trained",
          .options = options_type<ScaleOptions>(),
          .define = same_shape,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace ops
}  // namespace trireme::graph
