// SPDX-License-Identifier: Apache-2.0
// signum: the sign of a running mean of gradients, an optimizer that is added from outside.
#include "trireme/optim/optimizer_entry.h"

namespace trireme::optim::optimizers {
namespace {

struct SignumOptions {
  double learning_rate = 0.01;
  double momentum = 0.5;
};

void describe(SignumOptions& o, OptionVisitor& visit) {
  visit("learning_rate", o.learning_rate, "step size", 0, 1e6);
  visit("momentum", o.momentum, "share of the mean kept at each step", 0, 1);
}

void update(const std::any& options, const UpdateSpan& span) {
  const auto momentum = static_cast<float>(std::any_cast<const SignumOptions&>(options).momentum);
  const auto rate = static_cast<float>(span.learning_rate);
  for (std::size_t i = 0; i < span.parameters.size(); ++i) {
    float& mean = span.slots[0][i];
    mean = momentum * mean + (1 - momentum) * span.gradients[i];
    span.parameters[i] -= mean > 0 ? rate : mean < 0 ? -rate : 0;
  }
}

std::vector<std::string_view> slots(const std::any&) { return {"mean"}; }

}  // namespace

OptimizerEntry signum() {
  return {.name = "signum",
          .summary = "the sign of a running mean of gradients",
          .options = options_type<SignumOptions>(),
          .learning_rate = learning_rate_of<SignumOptions>,
          .slots = slots,
          .update = update};
}

}  // namespace trireme::optim::optimizers
