// SPDX-License-Identifier: Apache-2.0
// flatten: the same values as one vector, row by row.
#include <algorithm>

#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Definition define(const std::any&, std::span<const Shape> inputs) { return {.shape = {inputs[0].count()}}; }

Cost cost(const std::any&, std::span<const Shape>, const Shape&) { return {}; }

void reference(const std::any&, const ReferenceCall& call) {
  std::copy_n(call.inputs[0], call.batch * call.output_shape.count(), call.output);
}

}  // namespace

OpEntry flatten() {
  return {.name = "flatten",
          .summary = "one vector of all values",
          .options = options_type<NoOptions>(),
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = elementwise_examples};
}

}  // namespace trireme::graph::ops
