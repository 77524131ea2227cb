// SPDX-License-Identifier: Apache-2.0
// The words for what is not a number, and what is left of a step that is skipped.
#include "trireme/train/team/non_finite.h"

#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/finite.h"

namespace trireme::train {

bool is_finite(const engine::Outcome& outcome) { return std::isfinite(outcome.loss) && std::isfinite(outcome.penalty); }

// By "the loss is" a search knows that a training has diverged.
void throw_non_finite(const NonFiniteStep& step) {
  const auto& [number, loss, ranks, learning_rate, skipped_before] = step;
  const std::string who = ranks.empty()       ? std::string("all workers' gradients together")
                          : ranks.size() == 1 ? fmt::format("the gradient of rank {}", ranks.front())
                                              : fmt::format("the gradients of ranks {}", fmt::join(ranks, ", "));
  const std::string what = std::isfinite(loss)
                               ? fmt::format("the loss is {:g}, but {} {} not finite", loss, who, ranks.size() == 1 ? "is" : "are")
                               : fmt::format("the loss is {} ({})", loss, who);
  throw Error{out_of_range,
              "step {}: {}{}; no weight was changed by it; lower train.optimizer.learning_rate ({:g} now), or look at the samples for "
              "numbers that are none",
              number,
              what,
              skipped_before == 0 ? "" : fmt::format("; {} before it in a row were skipped (train.max_skipped_steps)", skipped_before),
              learning_rate};
}

void skip_or_throw(const StepInput& input, double loss, std::span<const int> ranks, StepResult& result) {
  if (input.skips_left <= 0)
    throw_non_finite(
        {.step = input.step, .loss = loss, .ranks = ranks, .learning_rate = input.learning_rate, .skipped_before = input.skipped_before});
  const auto [samples, forward] = std::pair(result.outcome.samples, result.outcome.forward_seconds);
  result.outcome = {.samples = samples, .forward_seconds = forward};
  result.is_skipped = true;
  result.is_update = false;
  result.skips = {.steps = 1, .ranks = {ranks.begin(), ranks.end()}};
}

bool skips_non_finite(const StepInput& input, std::span<const float> gradients, int rank, StepResult& result) {
  if (is_finite(result.outcome) && are_finite(gradients)) return false;
  skip_or_throw(input, result.outcome.loss, std::array{rank}, result);
  return true;
}

}  // namespace trireme::train
