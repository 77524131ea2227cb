// SPDX-License-Identifier: Apache-2.0
// rmsprop: s = rho * s + (1 - rho) * g^2; d = g / (sqrt(s) + epsilon); w -= learning_rate * d, or * (v = momentum * v + d).
#include <cmath>

#include "trireme/base/vectorized.h"
#include "trireme/optim/optimizer_entry.h"

namespace trireme::optim::optimizers {
namespace {

struct RmspropOptions {
  double learning_rate = 0.001;
  double rho = 0.9;
  double epsilon = 1e-7;
  double momentum = 0;
};

void describe(RmspropOptions& o, OptionVisitor& visit) {
  visit("learning_rate", o.learning_rate, "step size", 0, 1e6);
  visit("rho", o.rho, "share of the mean squared gradient kept at each step", 0, 1);
  visit("epsilon", o.epsilon, "added to the root of the mean square", 0, 1);
  visit("momentum", o.momentum, "share of the velocity kept at each step", 0, 1);
}

struct Factors {
  float rate, rho, rest, epsilon, momentum;  // rest = 1 - rho
};

TRIREME_VECTORIZED void plain(const UpdateSpan& span, const Factors f) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict s = span.slots[0].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    s[i] = f.rho * s[i] + f.rest * (g[i] * g[i]);
    w[i] -= f.rate * (g[i] / (std::sqrt(s[i]) + f.epsilon));
  }
}

TRIREME_VECTORIZED void heavy_ball(const UpdateSpan& span, const Factors f) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict s = span.slots[0].data();
  float* __restrict v = span.slots[1].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    s[i] = f.rho * s[i] + f.rest * (g[i] * g[i]);
    v[i] = f.momentum * v[i] + g[i] / (std::sqrt(s[i]) + f.epsilon);
    w[i] -= f.rate * v[i];
  }
}

void update(const std::any& options, const UpdateSpan& span) {
  const auto& o = std::any_cast<const RmspropOptions&>(options);
  const Factors factors{.rate = static_cast<float>(span.learning_rate),
                        .rho = static_cast<float>(o.rho),
                        .rest = static_cast<float>(1 - o.rho),
                        .epsilon = static_cast<float>(o.epsilon),
                        .momentum = static_cast<float>(o.momentum)};
  if (o.momentum == 0) return plain(span, factors);
  heavy_ball(span, factors);
}

std::vector<std::string_view> slots(const std::any& options) {
  if (std::any_cast<const RmspropOptions&>(options).momentum == 0) return {"mean_square"};
  return {"mean_square", "velocity"};
}

}  // namespace

OptimizerEntry rmsprop() {
  return {.name = "rmsprop",
          .summary = "gradients divided by their running root mean square",
          .options = options_type<RmspropOptions>(),
          .learning_rate = learning_rate_of<RmspropOptions>,
          .slots = slots,
          .update = update};
}

}  // namespace trireme::optim::optimizers
