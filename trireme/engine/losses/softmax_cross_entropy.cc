// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy: mean of weight * (log(sum(exp(x))) - x[label]) over samples; takes logits, so that it never overflows.
#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/engine/loss_entry.h"

namespace trireme::engine::losses {
namespace {

// Returns the weighted loss of one sample; the gradient row becomes weight * (softmax - one-hot) / samples.
double sample_loss(const LossCall& call, const float* x, std::int32_t label, float* gradient) {
  const double weight = call.class_weights.empty() ? 1.0 : static_cast<double>(call.class_weights[static_cast<std::size_t>(label)]);
  const auto highest = static_cast<double>(*std::max_element(x, x + call.outputs));
  double sum = 0;
  for (std::int64_t k = 0; k < call.outputs; ++k) sum += std::exp(static_cast<double>(x[k]) - highest);
  if (gradient != nullptr) {
    const double share = weight / static_cast<double>(call.samples);
    for (std::int64_t k = 0; k < call.outputs; ++k)
      gradient[k] = static_cast<float>((std::exp(static_cast<double>(x[k]) - highest) / sum - (k == label ? 1 : 0)) * share);
  }
  return weight * (highest + std::log(sum) - static_cast<double>(x[label]));
}

void compute(const LossCall& call, Outcome& outcome) {
  double total = 0;
  for (std::int64_t n = 0; n < call.samples; ++n) {
    const std::int32_t label = call.labels[static_cast<std::size_t>(n)];
    if (label < 0 || label >= call.outputs)
      throw Error{invalid_argument, "sample {} of the batch has label {}, the model has {} classes", n, label, call.outputs};
    const float* x = call.prediction + n * call.outputs;
    total += sample_loss(call, x, label, call.gradient != nullptr ? call.gradient + n * call.outputs : nullptr);
    outcome.correct += std::max_element(x, x + call.outputs) - x == label ? 1 : 0;
  }
  outcome.loss = total / static_cast<double>(call.samples);
}

}  // namespace

LossEntry softmax_cross_entropy() { return {.name = "softmax_cross_entropy", .uses_labels = true, .compute = compute}; }

}  // namespace trireme::engine::losses
