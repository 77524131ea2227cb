// SPDX-License-Identifier: Apache-2.0
// Where a state stands among others, and its way back from a checkpoint.
#include "trireme/train/loop/training_state.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::train {

Position TrainingState::position() const {
  if (lineage < 0 || !is_whole) return {};
  return {.generation = lineage, .step = cursor.step, .epoch = cursor.epoch};
}

void TrainingState::reset() {
  replica.reset();
  cursor = {};
  best.reset();
  lineage = -1;
  is_whole = true;
}

void TrainingState::keep_as_best() {
  if (keeps_best) best = std::make_shared<const KeptWeights>(KeptWeights{.parameters = replica.parameters(), .states = replica.states()});
}

void TrainingState::restore(Checkpoint checkpoint, std::int64_t samples) {
  const auto names = replica.optimizer().slots();
  if (!std::ranges::equal(names, checkpoint.slot_names))
    throw Error{failed_precondition, "the checkpoint was made with another optimizer: its slots are [{}], those of '{}' are [{}]",
                fmt::join(checkpoint.slot_names, ", "), replica.optimizer().entry().name, fmt::join(names, ", ")};
  if (checkpoint.cursor.epoch_offset >= samples)
    throw Error{failed_precondition,
                "the checkpoint stands after {} samples of an epoch, and there are {} training samples; leave the data as they were",
                checkpoint.cursor.epoch_offset, samples};
  ensure(checkpoint.parameters.size() == replica.parameters().size() && checkpoint.states.size() == replica.states().size(),
         "a checkpoint of this model");
  cursor = checkpoint.cursor;
  replica.parameters() = std::move(checkpoint.parameters);
  replica.states() = std::move(checkpoint.states);
  replica.slots() = std::move(checkpoint.slots);
  best = keeps_best ? std::move(checkpoint.best) : nullptr;
  lineage = checkpoint.generation;
  is_whole = true;
}

}  // namespace trireme::train
