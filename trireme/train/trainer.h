// SPDX-License-Identifier: Apache-2.0
// Trains a job's model on this machine, step by step: epochs over a permutation of the samples, an evaluation after each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/batch_stream.h"
#include "trireme/data/data_sets.h"
#include "trireme/engine/executor.h"
#include "trireme/optim/optimizer.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/checkpoint.h"
#include "trireme/train/evaluator.h"
#include "trireme/train/job.h"
#include "trireme/train/observer.h"

namespace trireme::train {

class Trainer {
 public:
  // All three must outlive the trainer. Compiles the model and draws the initial weights.
  struct Setup {
    const Job& job;
    const data::DataSets& data;
    const Clock& clock;
  };
  Trainer(const Setup& setup, const std::filesystem::path& algorithm_cache = {});

  // Between two steps: the whole state, to be continued from by another trainer of the same job. The result is the same to the bit
  // if the engine uses the same algorithms, which it chooses by timing unless `algorithm_cache` remembers them.
  Checkpoint checkpoint() const;
  void restore(Checkpoint checkpoint);

  bool finished() const;  // all epochs are done, or early stopping ended them
  bool stopped_early() const;
  // One step and, if it was the last of its epoch, the evaluation. Not when finished.
  void advance(Observer& observer);
  void run(Observer& observer) {
    while (!finished()) advance(observer);
  }

  Score test();  // on the test part, with the weights as they are now

  const Cursor& cursor() const { return cursor_; }
  const engine::CompileReport& compile_report() const { return executor_.report(); }
  std::span<const float> parameters() const { return parameters_; }

 private:
  StepRecord step(const data::Batch& batch, Seconds asked);
  StepRecord record_of(const engine::Outcome& outcome) const;
  void count(const engine::Outcome& outcome);
  void update();
  EpochRecord finish_epoch();
  void watch(const Score& validation);
  const data::Batch& next_batch();
  Score score(const std::shared_ptr<const data::Source>& samples);
  engine::ModelView model() { return {.parameters = parameters_, .states = states_, .gradients = gradients_}; }

  const Job& job_;
  const data::DataSets& data_;
  const Clock& clock_;
  engine::Executor executor_;
  Evaluator evaluator_;
  optim::Optimizer optimizer_;
  optim::Schedule schedule_;
  std::vector<float> parameters_;
  std::vector<float> gradients_;
  std::vector<float> states_;
  std::vector<std::vector<float>> slots_;
  Cursor cursor_;
  double learning_rate_ = 0;
  std::optional<data::BatchStream> stream_;  // begun by the first step, where the cursor then stands
  data::StreamTimes times_at_epoch_;
};

}  // namespace trireme::train
