// SPDX-License-Identifier: Apache-2.0
// Cross-validation: a training for each fold of the training samples, and what they say together.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/experiment/child_training.h"
#include "trireme/experiment/statistics.h"

namespace trireme::experiment {

struct FoldsRequest {
  std::string job_file;
  std::string job_hash;  // of the job with its settings: a folder belongs to one job
  std::int64_t folds = 5;
  std::filesystem::path folder;              // each fold has its runs in a folder below it
  std::vector<std::string> settings;         // of the job, as after --set
  std::vector<std::string> train_arguments;  // of each `trireme train`, also of one that goes on
  std::string how_to_go_on;                  // after an interruption: a command
};

struct FoldRun {
  std::int64_t fold = 0;  // from 1
  std::optional<FinishedRun> run;
  std::string failure;  // why there is none; empty: it was not tried yet
};

struct FoldsOutcome {
  std::vector<FoldRun> runs;

  bool is_whole() const;      // every fold was trained to its end
  bool has_accuracy() const;  // there are classes
  Sample losses() const;      // of finished runs, on the samples that each held out
  Sample accuracies() const;
};

class FoldTrainings {
 public:
  // Throws failed_precondition if the folder is of another job, or of another number of folds.
  explicit FoldTrainings(FoldsRequest request);

  // What is there already is not trained again; a fold that was cut short goes on from its last checkpoint.
  FoldsOutcome train(ExperimentProgress& progress, const std::atomic<int>& stop);

 private:
  std::filesystem::path folder_of(std::int64_t fold) const;
  std::vector<std::string> begin_or_resume(std::int64_t fold) const;
  FoldRun train_fold(std::int64_t fold, ExperimentProgress& progress, const std::atomic<int>& stop) const;

  FoldsRequest request_;
};

std::string to_text(const FoldsOutcome& outcome);
std::string to_json(const FoldsOutcome& outcome, const FoldsRequest& request);

}  // namespace trireme::experiment
