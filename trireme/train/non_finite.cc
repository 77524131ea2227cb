// SPDX-License-Identifier: Apache-2.0
// The words for what is not a number.
#include "trireme/train/non_finite.h"

#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/finite.h"

namespace trireme::train {

bool is_finite(const engine::Outcome& outcome) { return std::isfinite(outcome.loss) && std::isfinite(outcome.penalty); }

// "the loss is" tells a search that a training has diverged.
void throw_non_finite(const StepInput& input, double loss, std::span<const int> ranks) {
  const std::string who = ranks.empty()       ? std::string("all workers' gradients together")
                          : ranks.size() == 1 ? fmt::format("the gradient of rank {}", ranks.front())
                                              : fmt::format("the gradients of ranks {}", fmt::join(ranks, ", "));
  const std::string what = std::isfinite(loss)
                               ? fmt::format("the loss is {:g}, but {} {} not finite", loss, who, ranks.size() == 1 ? "is" : "are")
                               : fmt::format("the loss is {} ({})", loss, who);
  throw Error{out_of_range,
              "step {}: {}; no weight was changed by it; lower train.optimizer.learning_rate ({:g} now), or look at the samples for "
              "numbers that are none",
              input.step, what, input.learning_rate};
}

void check_finite(const StepInput& input, const engine::Outcome& outcome, std::span<const float> gradients, int rank) {
  if (is_finite(outcome) && are_finite(gradients)) return;
  throw_non_finite(input, outcome.loss, std::array{rank});
}

}  // namespace trireme::train
