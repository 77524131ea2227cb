// SPDX-License-Identifier: Apache-2.0
// Trains a job's model, alone or as one of a team, step by step: epochs over a permutation of the samples, an evaluation after each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/plan.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/loop/loop.h"
#include "trireme/train/loop/state_origin.h"

namespace trireme::train {

// Where a worker stands in its team. Good until the trainer does something.
struct TeamView {
  int rank = 0;
  int lead = 0;          // rank of the worker that knows what all have done, and reports it
  int missed_peer = -1;  // rank of the one that a broken exchange missed; -1: none
  bool is_by_lease = false;
  bool is_resumed = false;  // its state was kept by servers when the team changed
  std::string_view duty = "worker";
  const std::vector<double>& shares;
  const LastBatch& last_batch;

  bool is_lead() const { return rank == lead; }
};

class Trainer {
 public:
  // All must outlive the trainer. Draws the initial weights.
  struct Setup {
    const Job& job;
    const data::DataSets& data;
    const Clock& clock;
    bool team_follows = false;  // enter() will be called before anything else; until then it is not compiled
    // Where this node is, for reports: "compute" of step 12.
    std::function<void(std::int64_t step, std::string_view phase)> at = {};
    std::function<bool()> gives_up = {};  // asked while it waits for data; true: it throws `cancelled`
    PushEvents events = {};
    AnatomyLog::Report anatomy = {};          // each step of this node; may be empty
    Profiler* profiler = nullptr;             // follows the steps; may be null
    const TrafficCounter* traffic = nullptr;  // has the bytes of each step; null: this node exchanges none
  };
  Trainer(const Setup& setup, const std::filesystem::path& algorithm_cache = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // What is trained by which strategy from the next team on, and where to stop; without a call, as the job says.
  void apply_plan(Plan plan);
  // Compiles for worker `rank` of `size`, so that entering such a team costs no time, nor does a switch that is planned.
  void prepare(int rank, int size);
  // Trains with these workers from now on; without a call, alone. The state of the worker that came furthest becomes that of all, unless
  // `committed`, which the first worker asks, has a checkpoint that is further still. Returns the rank whose state it was.
  int enter(Team team, const Committed& committed = {});
  // The team is broken, or over: forgets it, and the step that was interrupted. Then enter() another one.
  void abandon();
  // Divides batches among the workers by these relative sizes from now on. All workers at the same step; not by lease.
  void apply_shares(std::vector<double> shares);

  // Between two steps: the whole state, to be continued from by another trainer of the same job. The result is the same to the bit
  // if the engine uses the same algorithms, which it chooses by timing unless `algorithm_cache` remembers them. In a team all
  // workers call checkpoint() at the same step.
  Checkpoint checkpoint();
  void restore(Checkpoint checkpoint);

  // One step and, if it was the last of its epoch, the evaluation. Not when finished. In a team the requests come true for all
  // workers at once, maybe some steps later: what is to be done now is returned. Where the plan has another strategy, that is to
  // regroup; where it ends, to stop.
  Requests advance(Observer& observer, const Requests& requests = {});
  // On the test part, by all workers of a team together: of the best epoch's weights if validation samples chose it, else of the last.
  Score test();

  std::optional<Ending> finished() const { return progress_.finished(); }  // all epochs are done, or early stopping ended them
  const Cursor& cursor() const { return state_.cursor; }
  const Replica& replica() const { return state_.replica; }
  TeamView team() const;

 private:
  void make_loop(std::size_t phase);
  bool resumes_with_servers(int phase);

  Setup setup_;
  optim::Schedule schedule_;
  TrainingState state_;
  StepMonitor monitor_;
  EpochProgress progress_;
  Evaluation evaluation_;
  PlanCourse course_;
  PlanCompiler compiler_;
  bool keeps_algorithms_;  // a timed choice is remembered for the next compilation
  WorkGroup group_;
  Handover handover_;
  std::unique_ptr<Loop> loop_;  // null: no team was entered
};

inline void run_to_end(Trainer& trainer, Observer& observer) {
  while (!trainer.finished()) trainer.advance(observer);
}

}  // namespace trireme::train
