// SPDX-License-Identifier: Apache-2.0
// batch_norm: y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, a channel at a time.
#include <cmath>

#include "trireme/graph/elementwise.h"
#include "trireme/graph/running_statistics.h"

namespace trireme::graph::ops {
namespace {

struct Statistics {
  double mean = 0;
  double variance = 0;
};

Definition define(const std::any&, std::span<const Shape> inputs) {
  const Shape channels{inputs[0][0]};
  return {.shape = inputs[0],
          .parameters = {{.name = "gamma", .shape = channels, .init = "ones"}, {.name = "beta", .shape = channels, .init = "zeros"}},
          .states = {{.name = "mean", .shape = channels, .init = "zeros"},
                     {.name = "variance", .shape = channels, .init = "ones"},
                     {.name = "updates", .shape = {1}, .init = "zeros", .if_absent = kManyUpdates}}};
}

// Forward: mean 1, variance 3, scale and shift 2. Backward: normalised x 2, two sums 3, the input's gradient 5.
Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 6, 10); }

template <class Visit>
void visit_channel(const ReferenceCall& call, std::int64_t channel, const Visit& visit) {
  const std::int64_t channels = call.output_shape[0];
  const std::int64_t area = call.output_shape.count() / channels;
  for (std::int64_t n = 0; n < call.batch; ++n) {
    for (std::int64_t i = 0; i < area; ++i) visit((n * channels + channel) * area + i);
  }
}

Statistics batch_statistics(const ReferenceCall& call, std::int64_t channel) {
  const double* x = call.inputs[0];
  const std::int64_t area = call.output_shape.count() / call.output_shape[0];
  const auto count = static_cast<double>(call.batch * area);
  Statistics result;
  visit_channel(call, channel, [&](std::int64_t i) { result.mean += x[i] / count; });
  visit_channel(call, channel, [&](std::int64_t i) { result.variance += (x[i] - result.mean) * (x[i] - result.mean) / count; });
  return result;
}

void reference(const std::any& options, const ReferenceCall& call) {
  const double epsilon = std::any_cast<const BatchNormOptions&>(options).epsilon;
  for (std::int64_t c = 0; c < call.output_shape[0]; ++c) {
    const Statistics used = call.training ? batch_statistics(call, c) : Statistics{call.states[0][c], call.states[1][c]};
    const double scale = call.parameters[0][c] / std::sqrt(used.variance + epsilon);
    visit_channel(call, c, [&](std::int64_t i) { call.output[i] = scale * (call.inputs[0][i] - used.mean) + call.parameters[1][c]; });
  }
}

std::vector<Example> examples() {
  return {{BatchNormOptions{}, {{5, 4, 3}}},
          {BatchNormOptions{.epsilon = 1e-5, .momentum = 0.9}, {{17, 3, 5}}},
          {BatchNormOptions{}, {{32, 4, 4}}},
          {BatchNormOptions{}, {{6, 9}}},
          {BatchNormOptions{.momentum = 0.5}, {{19}}}};
}

}  // namespace

OpEntry batch_norm() {
  return {.name = "batch_norm",
          .summary = "normalises each channel over the batch",
          .options = options_type<BatchNormOptions>(),
          .define = define,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
