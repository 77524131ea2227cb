// SPDX-License-Identifier: Apache-2.0
// A trained model as eval and predict take it: from a run directory, or from one of its checkpoints.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cli/command_entry.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/job.h"
#include "trireme/train/team/evaluator.h"

namespace trireme::cli {

struct TrainedModel {
  train::Job job;
  train::Checkpoint checkpoint;
  std::filesystem::path directory;  // of the checkpoint
  bool is_best = false;             // the weights are those of its best epoch, not of its last step

  train::ModelValues values() { return {.parameters = checkpoint.parameters, .states = checkpoint.states}; }
  // "3", or "3 (dress)" if classes have names.
  std::string class_title(std::int64_t number) const;
  // "runs/latest/checkpoints/step-00000123, weights of epoch 3 (the best; --last: of step 123)".
  std::string title() const;
  std::string_view weights() const { return is_best ? "best" : "last"; }
};

// Of a run that kept both.
enum class Weights { best, last };

// `path` is a run directory (its newest good checkpoint is taken) or a checkpoint directory, which stands for its step's own weights.
// Damaged checkpoints that were passed over are reported on console.err.
TrainedModel load_trained_model(const std::filesystem::path& path, const std::vector<std::string>& settings, const run::Console& console,
                                Weights weights = Weights::best);

// Of one of its checkpoints, or itself.
std::filesystem::path run_of(const std::filesystem::path& path);

train::Evaluator make_evaluator(const TrainedModel& model, const Clock& clock);

}  // namespace trireme::cli
