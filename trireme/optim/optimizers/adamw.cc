// SPDX-License-Identifier: Apache-2.0
// adamw: adam, with a weight decay that doesn't pass through the scaling: w *= 1 - learning_rate * weight_decay first.
#include "trireme/optim/adam_update.h"

namespace trireme::optim::optimizers {
namespace {

struct AdamWOptions : AdamOptions {
  double weight_decay = 0.01;
};

void describe(AdamWOptions& o, OptionVisitor& visit) {
  optim::describe(static_cast<AdamOptions&>(o), visit);
  visit("weight_decay", o.weight_decay, "share of each weight taken off a step, times the learning rate", 0, 1e3);
}

void update(const std::any& options, const UpdateSpan& span) {
  const auto& o = std::any_cast<const AdamWOptions&>(options);
  adam_update(o, o.weight_decay, span);
}

}  // namespace

OptimizerEntry adamw() {
  return {.name = "adamw",
          .summary = "adam with decoupled weight decay",
          .options = options_type<AdamWOptions>(),
          .learning_rate = learning_rate_of<AdamWOptions>,
          .slots = adam_slots,
          .update = update};
}

}  // namespace trireme::optim::optimizers
