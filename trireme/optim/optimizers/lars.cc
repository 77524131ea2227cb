// SPDX-License-Identifier: Apache-2.0
// lars: sgd with momentum whose rate in each slice is scaled by trust * |w| / (|g| + weight_decay * |w|), for very large batches.
#include "trireme/base/vectorized.h"
#include "trireme/optim/optimizer_entry.h"

namespace trireme::optim::optimizers {
namespace {

struct LarsOptions {
  double learning_rate = 1.0;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double trust = 0.001;
};

void describe(LarsOptions& o, OptionVisitor& visit) {
  visit("learning_rate", o.learning_rate, "step size, before the ratio of norms", 0, 1e6);
  visit("momentum", o.momentum, "share of the velocity kept at each step", 0, 1);
  visit("weight_decay", o.weight_decay, "times the weight, added to its gradient; instead of l2 in the layers", 0, 1e3);
  visit("trust", o.trust, "how much of a slice's norm one step may change", 0, 1);
}

// Biases and batch-norm values take plain steps: their norms say nothing about a sensible step.
bool is_vector(const Slice& slice) { return slice.shape.rank() <= 1; }

double slice_rate(const std::any& options, const Slice& slice, const SliceNorms& norms) {
  const auto& o = std::any_cast<const LarsOptions&>(options);
  if (is_vector(slice) || norms.parameters == 0 || norms.gradients == 0) return 1;
  return o.trust * norms.parameters / (norms.gradients + o.weight_decay * norms.parameters);
}

TRIREME_VECTORIZED void run(const UpdateSpan& span, float rate, float momentum, float decay) {
  float* __restrict w = span.parameters.data();
  const float* __restrict g = span.gradients.data();
  float* __restrict v = span.slots[0].data();
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    v[i] = momentum * v[i] + rate * (g[i] + decay * w[i]);
    w[i] -= v[i];
  }
}

void update(const std::any& options, const UpdateSpan& span) {
  const auto& o = std::any_cast<const LarsOptions&>(options);
  const double decay = is_vector(*span.slice) ? 0 : o.weight_decay;
  run(span, static_cast<float>(span.learning_rate), static_cast<float>(o.momentum), static_cast<float>(decay));
}

std::vector<std::string_view> slots(const std::any&) { return {"velocity"}; }

}  // namespace

OptimizerEntry lars() {
  return {.name = "lars",
          .summary = "momentum with a step size for each slice, for very large batches; needs whole slices",
          .options = options_type<LarsOptions>(),
          .learning_rate = learning_rate_of<LarsOptions>,
          .slots = slots,
          .update = update,
          .slice_rate = slice_rate};
}

}  // namespace trireme::optim::optimizers
