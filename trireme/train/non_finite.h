// SPDX-License-Identifier: Apache-2.0
// A step whose loss or gradients are not numbers: it is found before the update, and its worker is named.
#pragma once

#include <span>
#include <vector>

#include "trireme/engine/executor.h"
#include "trireme/train/strategy.h"

namespace trireme::train {

bool is_finite(const engine::Outcome& outcome);

// `ranks`: whose they are; none: each worker's were numbers, and their sum is not. The code is out_of_range, which ends a job: another
// node would compute the same.
[[noreturn]] void throw_non_finite(const StepInput& input, double loss, std::span<const int> ranks);

// Throws that of this worker, if its own are not.
void check_finite(const StepInput& input, const engine::Outcome& outcome, std::span<const float> gradients, int rank);

}  // namespace trireme::train
