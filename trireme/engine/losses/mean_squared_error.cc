// SPDX-License-Identifier: Apache-2.0
// mean_squared_error: mean of (x - target)^2 over outputs and samples.
#include "trireme/engine/loss_entry.h"

namespace trireme::engine::losses {
namespace {

void compute(const LossCall& call, Outcome& outcome) {
  const std::int64_t count = call.samples * call.outputs;
  double total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double difference = static_cast<double>(call.prediction[i]) - static_cast<double>(call.targets[static_cast<std::size_t>(i)]);
    total += difference * difference;
    if (call.gradient != nullptr) call.gradient[i] = static_cast<float>(2 * difference / static_cast<double>(count));
  }
  outcome.loss = total / static_cast<double>(count);
}

}  // namespace

LossEntry mean_squared_error() { return {.name = "mean_squared_error", .compute = compute}; }

}  // namespace trireme::engine::losses
