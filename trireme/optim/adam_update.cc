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

TRIREME_VECTORIZED void run(float* __restrict w, const float* __restrict g, float* __restrict m, float* __restrict v, std::int64_t count,
                            const Factors f) {
  for (std::int64_t i = 0; i < count; ++i) {
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
  run(span.parameters.data(), span.gradients.data(), span.slots[0].data(), span.slots[1].data(),
      static_cast<std::int64_t>(span.parameters.size()), factors);
}

std::vector<std::string_view> adam_slots(const std::any&) { return {"mean", "mean_square"}; }

}  // namespace trireme::optim
