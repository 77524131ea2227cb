// SPDX-License-Identifier: Apache-2.0
// conv2d: y[f, i, j] = bias[f] + sum over c, u, v of kernel[f, c, u, v] * x[c, i * stride + u - before, j * stride + v - before].
#include "trireme/graph/convolution.h"

namespace trireme::graph::ops {
namespace {

Axes axes_of(const ConvOptions& o, const Shape& x) {
  if (x.rank() != 3) throw Error{invalid_argument, "needs an image (channels x height x width), the input is {}", x.to_string()};
  return {.channels = x[0],
          .rows = window_over(x[1], o.kernel, o.stride, o.padding),
          .columns = window_over(x[2], o.kernel, o.stride, o.padding),
          .height = x[1],
          .width = x[2]};
}

Definition define(const std::any& options, std::span<const Shape> inputs) {
  const auto& o = std::any_cast<const ConvOptions&>(options);
  const Axes axes = axes_of(o, inputs[0]);
  return {.shape = {o.filters, axes.rows.outputs, axes.columns.outputs},
          .parameters = convolution_parameters(o, axes, {o.filters, axes.channels, o.kernel, o.kernel})};
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
      {ConvOptions{.filters = 5, .kernel = 3}, {{3, 7, 6}}},
      {ConvOptions{.filters = 17, .kernel = 3, .stride = 2, .padding = Padding::same()}, {{16, 8, 7}}},
      {ConvOptions{.filters = 16, .kernel = 3, .padding = Padding::same(), .bias = false, .l2 = 0.01}, {{32, 8, 8}}},
      {ConvOptions{.filters = 12, .kernel = 1, .padding = Padding::same()}, {{20, 5, 5}}},
      {ConvOptions{.filters = 9, .kernel = 1, .stride = 2}, {{18, 6, 6}}},
      {ConvOptions{.filters = 4, .kernel = 2, .padding = Padding::same()}, {{1, 5, 6}}},
      {ConvOptions{.filters = 8, .kernel = 4, .stride = 2, .padding = Padding::of(1)}, {{2, 8, 8}}},
  };
}

}  // namespace

OpEntry conv2d() {
  return {.name = "conv2d",
          .summary = "2-D convolution",
          .options = options_type<ConvOptions>(),
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
