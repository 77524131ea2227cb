// SPDX-License-Identifier: Apache-2.0
// dense: y[u] = bias[u] + sum over i of kernel[u, i] * x[i].
#include "trireme/base/error.h"
#include "trireme/graph/op_entry.h"
#include "trireme/graph/op_options.h"

namespace trireme::graph::ops {
namespace {

Definition define(const std::any& options, std::span<const Shape> inputs) {
  const auto& o = std::any_cast<const DenseOptions&>(options);
  const Shape& x = inputs[0];
  if (x.rank() != 1) throw Error{invalid_argument, "needs a vector, the input is {}; put a flatten layer before it", x.to_string()};
  std::vector<ParameterSpec> parameters{
      {.name = "kernel", .shape = {o.units, x[0]}, .init = o.init, .fan_in = x[0], .fan_out = o.units, .l2 = o.l2}};
  if (o.bias) parameters.push_back({.name = "bias", .shape = {o.units}, .init = "zeros"});
  return {.shape = {o.units}, .parameters = std::move(parameters)};
}

Cost cost(const std::any& options, std::span<const Shape> inputs, const Shape& output) {
  const double flops = 2.0 * static_cast<double>(inputs[0][0]) * static_cast<double>(output[0]);
  const double bias = std::any_cast<const DenseOptions&>(options).bias ? static_cast<double>(output[0]) : 0;
  return {.forward_flops = flops + bias, .backward_flops = 2 * flops + bias};
}

void reference(const std::any& options, const ReferenceCall& call) {
  const bool bias = std::any_cast<const DenseOptions&>(options).bias;
  const std::int64_t in = call.input_shapes[0][0];
  const std::int64_t units = call.output_shape[0];
  for (std::int64_t n = 0; n < call.batch; ++n) {
    for (std::int64_t u = 0; u < units; ++u) {
      double sum = bias ? call.parameters[1][u] : 0;
      for (std::int64_t i = 0; i < in; ++i) sum += call.parameters[0][u * in + i] * call.inputs[0][n * in + i];
      call.output[n * units + u] = sum;
    }
  }
}

std::vector<Example> examples() {
  return {{DenseOptions{.units = 10}, {{7}}},
          {DenseOptions{.units = 1}, {{33}}},
          {DenseOptions{.units = 17, .bias = false, .l2 = 0.01}, {{16}}},
          {DenseOptions{.units = 32, .init = "he_normal"}, {{64}}}};
}

}  // namespace

OpEntry dense() {
  return {.name = "dense",
          .summary = "every output from every input",
          .options = options_type<DenseOptions>(),
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
