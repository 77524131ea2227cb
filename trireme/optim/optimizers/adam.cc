// SPDX-License-Identifier: Apache-2.0
// adam: steps of about the learning rate along the mean gradient, scaled by its mean square.
#include "trireme/optim/adam_update.h"

namespace trireme::optim::optimizers {
namespace {

void update(const std::any& options, const UpdateSpan& span) { adam_update(std::any_cast<const AdamOptions&>(options), 0, span); }

}  // namespace

OptimizerEntry adam() {
  return {.name = "adam",
          .summary = "step sizes from running means of the gradient and its square",
          .options = options_type<AdamOptions>(),
          .learning_rate = learning_rate_of<AdamOptions>,
          .slots = adam_slots,
          .update = update};
}

}  // namespace trireme::optim::optimizers
