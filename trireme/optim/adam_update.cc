// SPDX-License-Identifier: Apache-2.0
// m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g^2; w -= rate * m' / (sqrt(v') + epsilon), m' and v' unbiased.
#include "trireme/optim/adam_update.h"

#include <cmath>

#include "trireme/base/vectorized.h"

namespace trireme::optim {
namespace {

struct Factors {
  float keep;          // of the weight
  float rate;          // learning rate, with the bias of m taken out
  float beta1, rest1;  // rest = 1 - beta
  float beta2, rest2;
  float unbias;  // of sqrt(v)
  float epsilon;
};

TRIREME_VECTORIZED void run(const UpdateSpan& span, const Factors f) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict m = span.slots[0].data();
  float* __restrict v = span.slots[1].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    m[i] = f.beta1 * m[i] + f.rest1 * g[i];
    v[i] = f.beta2 * v[i] + f.rest2 * (g[i] * g[i]);
    w[i] = f.keep * w[i] - f.rate * (m[i] / (std::sqrt(v[i]) * f.unbias + f.epsilon));
  }
}

}  // namespace

void describe(AdamOptions& o, OptionVisitor& visit) {
  visit("learning_rate", o.learning_rate, "step size", 0, 1e6);
  visit("beta1", o.beta1, "share of the mean gradient kept at each step", 0, 1);
  visit("beta2", o.beta2, "share of the mean squared gradient kept at each step", 0, 1);
  visit("epsilon", o.epsilon, "added to the root of the mean square", 0, 1);
}

void adam_update(const AdamOptions& o, double weight_decay, const UpdateSpan& span) {
  const auto step = static_cast<double>(span.step);
  const double bias1 = 1 - std::pow(o.beta1, step);
  const double bias2 = 1 - std::pow(o.beta2, step);
  const Factors factors{.keep = static_cast<float>(1 - span.learning_rate * weight_decay),
                        .rate = static_cast<float>(span.learning_rate / bias1),
                        .beta1 = static_cast<float>(o.beta1),
                        .rest1 = static_cast<float>(1 - o.beta1),
                        .beta2 = static_cast<float>(o.beta2),
                        .rest2 = static_cast<float>(1 - o.beta2),
                        .unbias = static_cast<float>(1 / std::sqrt(bias2)),
                        .epsilon = static_cast<float>(o.epsilon)};
  run(span, factors);
}

std::vector<std::string_view> adam_slots(const std::any&) { return {"mean", "mean_square"}; }

}  // namespace trireme::optim
