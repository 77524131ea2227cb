// SPDX-License-Identifier: Apache-2.0
// sgd: v = momentum * v + g; w -= learning_rate * v, or * (g + momentum * v) with Nesterov's look-ahead.
#include "trireme/base/vectorized.h"
#include "trireme/optim/optimizer_entry.h"

namespace trireme::optim::optimizers {
namespace {

struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
};

void describe(SgdOptions& o, OptionVisitor& visit) {
  visit("learning_rate", o.learning_rate, "step size", 0, 1e6);
  visit("momentum", o.momentum, "share of the velocity kept at each step", 0, 1);
  visit("nesterov", o.nesterov, "look ahead along the velocity");
}

TRIREME_VECTORIZED void plain(const UpdateSpan& span, float rate) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) w[i] -= rate * g[i];
}

TRIREME_VECTORIZED void heavy_ball(const UpdateSpan& span, float rate, float momentum) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict v = span.slots[0].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    v[i] = momentum * v[i] + g[i];
    w[i] -= rate * v[i];
  }
}

TRIREME_VECTORIZED void look_ahead(const UpdateSpan& span, float rate, float momentum) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict v = span.slots[0].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    v[i] = momentum * v[i] + g[i];
    w[i] -= rate * (g[i] + momentum * v[i]);
  }
}

void update(const std::any& options, const UpdateSpan& span) {
  const auto& o = std::any_cast<const SgdOptions&>(options);
  const auto rate = static_cast<float>(span.learning_rate);
  const auto momentum = static_cast<float>(o.momentum);
  if (o.momentum == 0) return plain(span, rate);
  const auto step = o.nesterov ? look_ahead : heavy_ball;
  step(span, rate, momentum);
}

std::vector<std::string_view> slots(const std::any& options) {
  if (std::any_cast<const SgdOptions&>(options).momentum == 0) return {};
  return {"velocity"};
}

}  // namespace

OptimizerEntry sgd() {
  return {.name = "sgd",
          .summary = "gradient descent, with momentum and Nesterov's look-ahead if wanted",
          .options = options_type<SgdOptions>(),
          .learning_rate = learning_rate_of<SgdOptions>,
          .slots = slots,
          .update = update};
}

}  // namespace trireme::optim::optimizers
