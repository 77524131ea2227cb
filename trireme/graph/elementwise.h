// SPDX-License-Identifier: Apache-2.0
// What ops share that compute each value of the output from the same value of the input.
#pragma once

#include <span>
#include <vector>

#include "trireme/graph/op_entry.h"
#include "trireme/graph/op_options.h"

namespace trireme::graph {

Definition same_shape(const std::any& options, std::span<const Shape> inputs);
std::vector<Example> elementwise_examples();

template <class Function>
void map_values(const ReferenceCall& call, const Function& function) {
  const std::int64_t count = call.batch * call.output_shape.count();
  for (std::int64_t i = 0; i < count; ++i) call.output[i] = function(call.inputs[0][i]);
}

inline Cost cost_per_value(const Shape& shape, double forward, double backward) {
  const auto count = static_cast<double>(shape.count());
  return {.forward_flops = forward * count, .backward_flops = backward * count};
}

}  // namespace trireme::graph
