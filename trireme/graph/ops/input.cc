// SPDX-License-Identifier: Apache-2.0
// input: what comes from the data set, one sample's shape.
#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/graph/op_entry.h"
#include "trireme/graph/op_options.h"

namespace trireme::graph::ops {
namespace {

Definition define(const std::any& options, std::span<const Shape>) {
  const auto& o = std::any_cast<const InputOptions&>(options);
  if (o.channels == 0 && o.height == 0) return {.shape = {o.width}};
  if (o.channels == 0) throw Error{invalid_argument, "an image of height {} and width {} also needs channels, e.g. 1", o.height, o.width};
  if (o.height == 0) return {.shape = {o.channels, o.width}};
  return {.shape = {o.channels, o.height, o.width}};
}

Cost cost(const std::any&, std::span<const Shape>, const Shape&) { return {}; }

// call.inputs[0] is the sample's data, though the node has no node before it.
void reference(const std::any&, const ReferenceCall& call) {
  std::copy_n(call.inputs[0], call.batch * call.output_shape.count(), call.output);
}

std::vector<Example> examples() {
  return {{InputOptions{.width = 7}, {}},
          {InputOptions{.channels = 3, .width = 5}, {}},
          {InputOptions{.channels = 3, .height = 5, .width = 4}, {}}};
}

}  // namespace

OpEntry input() {
  return {.name = "input",
          .summary = "data from outside: a vector, a sequence or an image",
          .options = options_type<InputOptions>(),
          .min_inputs = 0,
          .max_inputs = 0,
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
