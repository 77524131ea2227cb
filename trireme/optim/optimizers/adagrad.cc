// SPDX-License-Identifier: Apache-2.0
// adagrad: s += g^2; w -= learning_rate * g / (sqrt(initial + s) + epsilon).
#include <cmath>

#include "trireme/base/vectorized.h"
#include "trireme/optim/optimizer_entry.h"

namespace trireme::optim::optimizers {
namespace {

struct AdagradOptions {
  double learning_rate = 0.01;
  double initial = 0;
  double epsilon = 1e-10;
};

void describe(AdagradOptions& o, OptionVisitor& visit) {
  visit("learning_rate", o.learning_rate, "step size", 0, 1e6);
  visit("initial", o.initial, "what each sum of squared gradients begins with", 0, 1e6);
  visit("epsilon", o.epsilon, "added to the root of the sum", 0, 1);
}

TRIREME_VECTORIZED void run(const UpdateSpan& span, float rate, float initial, float epsilon) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict s = span.slots[0].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    s[i] += g[i] * g[i];
    w[i] -= rate * (g[i] / (std::sqrt(initial + s[i]) + epsilon));
  }
}

void update(const std::any& options, const UpdateSpan& span) {
  const auto& o = std::any_cast<const AdagradOptions&>(options);
  run(span, static_cast<float>(span.learning_rate), static_cast<float>(o.initial), static_cast<float>(o.epsilon));
}

std::vector<std::string_view> slots(const std::any&) { return {"sum_of_squares"}; }

}  // namespace

OptimizerEntry adagrad() {
  return {.name = "adagrad",
          .summary = "step sizes that shrink with the sum of squared gradients",
          .options = options_type<AdagradOptions>(),
          .learning_rate = learning_rate_of<AdagradOptions>,
          .slots = slots,
          .update = update};
}

}  // namespace trireme::optim::optimizers
