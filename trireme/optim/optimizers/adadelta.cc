// SPDX-License-Identifier: Apache-2.0
// adadelta: s = rho * s + (1 - rho) * g^2; d = g * sqrt(u + epsilon) / sqrt(s + epsilon); u likewise of d^2; w -= learning_rate * d.
#include <cmath>

#include "trireme/base/vectorized.h"
#include "trireme/optim/optimizer_entry.h"

namespace trireme::optim::optimizers {
namespace {

struct AdadeltaOptions {  // Keras' defaults, with the paper's step size
  double learning_rate = 1.0;
  double rho = 0.95;
  double epsilon = 1e-7;
};

void describe(AdadeltaOptions& o, OptionVisitor& visit) {
  visit("learning_rate", o.learning_rate, "factor on the step", 0, 1e6);
  visit("rho", o.rho, "share of the mean squares kept at each step", 0, 1);
  visit("epsilon", o.epsilon, "added to the mean squares under the root", 0, 1);
}

struct Factors {
  float rate, rho, rest, epsilon;  // rest = 1 - rho
};

TRIREME_VECTORIZED void run(const UpdateSpan& span, const Factors f) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict s = span.slots[0].data();
  float* __restrict u = span.slots[1].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    s[i] = f.rho * s[i] + f.rest * (g[i] * g[i]);
    const float change = g[i] * (std::sqrt(u[i] + f.epsilon) / std::sqrt(s[i] + f.epsilon));
    u[i] = f.rho * u[i] + f.rest * (change * change);
    w[i] -= f.rate * change;
  }
}

void update(const std::any& options, const UpdateSpan& span) {
  const auto& o = std::any_cast<const AdadeltaOptions&>(options);
  const Factors factors{.rate = static_cast<float>(span.learning_rate),
                        .rho = static_cast<float>(o.rho),
                        .rest = static_cast<float>(1 - o.rho),
                        .epsilon = static_cast<float>(o.epsilon)};
  run(span, factors);
}

std::vector<std::string_view> slots(const std::any&) { return {"mean_square", "mean_square_change"}; }

}  // namespace

OptimizerEntry adadelta() {
  return {.name = "adadelta",
          .summary = "step sizes from the ratio of past changes to past gradients",
          .options = options_type<AdadeltaOptions>(),
          .learning_rate = learning_rate_of<AdadeltaOptions>,
          .slots = slots,
          .update = update};
}

}  // namespace trireme::optim::optimizers
