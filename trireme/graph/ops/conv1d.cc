// SPDX-License-Identifier: Apache-2.0
// conv1d: y[f, j] = bias[f] + sum over c, v of kernel[f, c, v] * x[c, j * stride + v - before].
#include "trireme/graph/convolution.h"

namespace trireme::graph::ops {
namespace {

Axes axes_of(const ConvOptions& o, const Shape& x) {
  if (x.rank() != 2) throw Error{invalid_argument, "needs a sequence (channels x width), the input is {}", x.to_string()};
  return {
      .channels = x[0], .rows = {.outputs = 1}, .columns = window_over(x[1], o.kernel, o.stride, o.padding), .height = 1, .width = x[1]};
}

Definition define(const std::any& options, std::span<const Shape> inputs) {
  const auto& o = std::any_cast<const ConvOptions&>(options);
  const Axes axes = axes_of(o, inputs[0]);
  return {.shape = {o.filters, axes.columns.outputs}, .parameters = convolution_parameters(o, axes, {o.filters, axes.channels, o.kernel})};
}

Cost cost(const std::any& options, std::span<const Shape> inputs, const Shape&) {
  const auto& o = std::any_cast<const ConvOptions&>(options);
  return convolution_cost(o, axes_of(o, inputs[0]));
}

void reference(const std::any& options, const ReferenceCall& call) {
  const auto& o = std::any_cast<const ConvOptions&>(options);
  convolution_reference(o, axes_of(o, call.input_shapes[0]), call);
}

std::vector<Example> examples() {
  return {
      {ConvOptions{.filters = 5, .kernel = 3}, {{3, 9}}},
      {ConvOptions{.filters = 17, .kernel = 3, .stride = 2, .padding = Padding::same()}, {{16, 12}}},
      {ConvOptions{.filters = 16, .kernel = 5, .padding = Padding::same(), .bias = false, .l2 = 0.01}, {{32, 10}}},
      {ConvOptions{.filters = 9, .kernel = 1, .stride = 2}, {{18, 7}}},
      {ConvOptions{.filters = 4, .kernel = 4, .stride = 3, .padding = Padding::of(2)}, {{1, 13}}},
  };
}

}  // namespace

OpEntry conv1d() {
  return {.name = "conv1d",
          .summary = "1-D convolution",
          .options = options_type<ConvOptions>(),
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
