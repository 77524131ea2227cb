// SPDX-License-Identifier: Apache-2.0
// Trains a job's model on this machine: epochs over a permutation of the samples, an evaluation after each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/reader_entry.h"
#include "trireme/engine/executor.h"
#include "trireme/optim/optimizer.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/batch.h"
#include "trireme/train/job.h"
#include "trireme/train/observer.h"

namespace trireme::train {

class Trainer {
 public:
  // `job` and `clock` must outlive the trainer. Makes the data, compiles the model and draws the initial weights.
  Trainer(const Job& job, const Clock& clock, const std::filesystem::path& algorithm_cache = {});

  // All epochs; the result is the last one's record. The same job gives the same bits only with the same algorithms, which the
  // engine chooses by timing unless `algorithm_cache` remembers them.
  EpochRecord run(Observer& observer);

  const engine::CompileReport& compile_report() const { return executor_.report(); }
  std::span<const float> parameters() const { return parameters_; }

 private:
  struct Tally;  // sums over an epoch

  EpochRecord run_epoch(std::int64_t epoch, Observer& observer);
  engine::Outcome step(std::span<const std::int64_t> indices, std::uint64_t key_root);
  void update();
  Tally evaluate();
  engine::ModelView model() { return {.parameters = parameters_, .states = states_, .gradients = gradients_}; }

  const Job& job_;
  const Clock& clock_;
  std::unique_ptr<data::Source> samples_;
  std::unique_ptr<data::Source> test_samples_;
  engine::Executor executor_;
  engine::Executor evaluator_;
  optim::Optimizer optimizer_;
  optim::Schedule schedule_;
  Batch batch_;
  Batch test_batch_;
  std::vector<float> parameters_;
  std::vector<float> gradients_;
  std::vector<float> states_;
  std::vector<std::vector<float>> slots_;
  std::int64_t samples_seen_ = 0;
  std::int64_t steps_ = 0;
  double learning_rate_ = 0;
};

}  // namespace trireme::train
