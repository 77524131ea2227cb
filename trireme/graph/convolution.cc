// SPDX-License-Identifier: Apache-2.0
// Convolution in plain loops, its parameters and cost.
#include "trireme/graph/convolution.h"

namespace trireme::graph {
namespace {

// One output value: the window at (row, column) of all channels.
double window_sum(const Axes& axes, const double* x, const double* kernel, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t c = 0; c < axes.channels; ++c) {
    for (std::int64_t u = 0; u < axes.rows.kernel; ++u) {
      for (std::int64_t v = 0; v < axes.columns.kernel; ++v) {
        const std::int64_t i = row * axes.rows.stride + u - axes.rows.before;
        const std::int64_t j = column * axes.columns.stride + v - axes.columns.before;
        if (i < 0 || i >= axes.height || j < 0 || j >= axes.width) continue;
        sum += x[(c * axes.height + i) * axes.width + j] * kernel[(c * axes.rows.kernel + u) * axes.columns.kernel + v];
      }
    }
  }
  return sum;
}

}  // namespace

std::vector<ParameterSpec> convolution_parameters(const ConvOptions& o, const Axes& axes, const Shape& kernel) {
  const std::int64_t window = axes.rows.kernel * axes.columns.kernel;
  std::vector<ParameterSpec> parameters{
      {.name = "kernel", .shape = kernel, .init = o.init, .fan_in = axes.channels * window, .fan_out = o.filters * window, .l2 = o.l2}};
  if (o.bias) parameters.push_back({.name = "bias", .shape = {o.filters}, .init = "zeros"});
  return parameters;
}

Cost convolution_cost(const ConvOptions& o, const Axes& axes) {
  const auto outputs = static_cast<double>(o.filters * axes.rows.outputs * axes.columns.outputs);
  const double flops = 2 * outputs * static_cast<double>(axes.channels * axes.rows.kernel * axes.columns.kernel);
  const double bias = o.bias ? outputs : 0;
  return {.forward_flops = flops + bias, .backward_flops = 2 * flops + bias};
}

void convolution_reference(const ConvOptions& o, const Axes& axes, const ReferenceCall& call) {
  const std::int64_t in = axes.channels * axes.height * axes.width;
  const std::int64_t window = axes.channels * axes.rows.kernel * axes.columns.kernel;
  double* y = call.output;
  for (std::int64_t n = 0; n < call.batch; ++n) {
    for (std::int64_t f = 0; f < o.filters; ++f) {
      const double bias = o.bias ? call.parameters[1][f] : 0;
      for (std::int64_t i = 0; i < axes.rows.outputs; ++i) {
        for (std::int64_t j = 0; j < axes.columns.outputs; ++j)
          *y++ = bias + window_sum(axes, call.inputs[0] + n * in, call.parameters[0] + f * window, i, j);
      }
    }
  }
}

}  // namespace trireme::graph
