// SPDX-License-Identifier: Apache-2.0
// Trains a job's model, alone or as one of a team, step by step: epochs over a permutation of the samples, an evaluation after each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/batch_stream.h"
#include "trireme/data/data_sets.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/checkpoint.h"
#include "trireme/train/evaluator.h"
#include "trireme/train/job.h"
#include "trireme/train/observer.h"
#include "trireme/train/replica.h"
#include "trireme/train/speed_shares.h"
#include "trireme/train/strategy.h"
#include "trireme/train/team.h"

namespace trireme::train {

class Trainer {
 public:
  // All must outlive the trainer. Draws the initial weights.
  struct Setup {
    const Job& job;
    const data::DataSets& data;
    const Clock& clock;
    bool team_follows = false;  // enter() will be called before anything else; until then it is not compiled
    // Where it is, for whoever wants to tell others: "compute" of step 12.
    std::function<void(std::int64_t step, std::string_view phase)> at = {};
  };
  Trainer(const Setup& setup, const std::filesystem::path& algorithm_cache = {});

  // Compiles for worker `rank` of `size`, so that entering such a team costs no time.
  void prepare(int rank, int size);
  // Trains with these workers from now on; without a call, alone. All of them must do so at the same step of the same training:
  // the state of worker `root` becomes everybody's.
  void enter(Team team, int root);
  // Divides batches among the workers by these relative sizes from now on. All workers at the same step.
  void take_shares(std::vector<double> shares);

  // Between two steps: the whole state, to be continued from by another trainer of the same job. The result is the same to the bit
  // if the engine uses the same algorithms, which it chooses by timing unless `algorithm_cache` remembers them. In a team all
  // workers call checkpoint() at the same step.
  Checkpoint checkpoint();
  void restore(Checkpoint checkpoint);

  bool finished() const;  // all epochs are done, or early stopping ended them
  bool stopped_early() const;
  // One step and, if it was the last of its epoch, the evaluation. Not when finished. In a team the requests come true for all
  // workers at once, maybe some steps later: what is to be done now is returned.
  Requests advance(Observer& observer, const Requests& requests = {});
  void run(Observer& observer) {
    while (!finished()) advance(observer);
  }

  Score test();  // on the test part, with the weights as they are now; all workers of a team together

  const Cursor& cursor() const { return cursor_; }
  const engine::CompileReport& compile_report() const { return replica_.compile_report(); }
  std::span<const float> parameters() const { return replica_.parameters(); }
  const std::vector<double>& shares() const { return shares_; }

 private:
  StepRecord step(const data::Batch& batch, Seconds asked, const Requests& requests);
  StepRecord record_of(const engine::Outcome& outcome) const;
  void count(const engine::Outcome& outcome);
  EpochRecord finish_epoch();
  void watch(const Score& validation);
  const data::Batch& next_batch();
  Score score(const std::shared_ptr<const data::Source>& samples);
  void synchronize(int root);
  void rebalance();
  engine::StatisticsExchange statistics_for(const data::Batch& batch);
  void compile(const std::vector<double>& shares, int rank);

  const Job& job_;
  const data::DataSets& data_;
  const Clock& clock_;
  std::function<void(std::int64_t, std::string_view)> at_;
  EnterPhase enter_phase_;
  Replica replica_;
  std::filesystem::path algorithm_cache_;
  std::optional<Evaluator> evaluator_;
  optim::Schedule schedule_;
  Team team_;
  std::vector<double> shares_;
  SpeedShares speed_;
  std::unique_ptr<Strategy> strategy_;
  Cursor cursor_;
  Requests agreed_;  // in the last step
  double learning_rate_ = 0;
  double epoch_exchange_ = 0, epoch_hidden_ = 0;
  std::optional<data::BatchStream> stream_;  // begun by the first step, where the cursor then stands
  data::StreamTimes times_at_epoch_;
};

}  // namespace trireme::train
