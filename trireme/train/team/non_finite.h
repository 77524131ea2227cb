// SPDX-License-Identifier: Apache-2.0
// A step whose loss or gradients are not numbers: it is found before the update, its worker is named, and it ends the training or is
// skipped.
#pragma once

#include <span>
#include <vector>

#include "trireme/engine/executor.h"
#include "trireme/train/team/strategy.h"

namespace trireme::train {

bool is_finite(const engine::Outcome& outcome);

struct NonFiniteStep {
  std::int64_t step = 0;
  double loss = 0;
  std::span<const int> ranks;  // whose they are; none: each worker's were numbers, and their sum is not
  double learning_rate = 0;
  std::int64_t skipped_before = 0;  // in a row
};
// The code is out_of_range, which ends a job: another node would compute the same.
[[noreturn]] void throw_non_finite(const NonFiniteStep& step);

// Notes in `result` that the step is skipped, or throws if no more may be.
void skip_or_throw(const StepInput& input, double loss, std::span<const int> ranks, StepResult& result);

// The same for a worker that finds it alone: false if all is finite.
bool skips_non_finite(const StepInput& input, std::span<const float> gradients, int rank, StepResult& result);

}  // namespace trireme::train
