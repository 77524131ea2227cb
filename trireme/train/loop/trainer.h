// SPDX-License-Identifier: Apache-2.0
// Trains a job's model, alone or as one of a team, step by step: epochs over a permutation of the samples, an evaluation after each.
#pragma once

#include <any>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/plan.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/loop/anatomy_log.h"
#include "trireme/train/loop/profiler.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/team/evaluator.h"
#include "trireme/train/team/link_speeds.h"
#include "trireme/train/team/replica.h"
#include "trireme/train/team/speed_shares.h"
#include "trireme/train/team/strategy.h"
#include "trireme/train/team/team.h"

namespace trireme::train {

// Which samples the last step took, of all workers together.
struct LastBatch {
  std::int64_t epoch = 0;
  std::int64_t offset = 0;  // of its first sample in the epoch
  std::int64_t whole = 0;
  std::vector<double> shares;
};

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
    std::function<bool()> gives_up = {};  // asked while it waits for data; true: it throws `cancelled`
    PushEvents events = {};
    AnatomyLog::Tell anatomy = {};   // each step of this node; may be empty
    Profiler::Deliver profile = {};  // of the steps that the job wants profiled; may be empty
  };
  Trainer(const Setup& setup, const std::filesystem::path& algorithm_cache = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // What is trained by which strategy from the next team on, and where to stop; without a call, as the job says.
  void take_plan(Plan plan);
  // Compiles for worker `rank` of `size`, so that entering such a team costs no time, nor does a switch that is planned.
  void prepare(int rank, int size);
  // Trains with these workers from now on; without a call, alone. The state of the worker who came furthest becomes everybody's,
  // unless `committed`, which the first worker asks, has a checkpoint that is further still. The rank whose state it was is
  // returned.
  using Committed = std::function<std::optional<Checkpoint>(const Position& newer_than)>;
  int enter(Team team, const Committed& committed = {});
  // The team is broken, or over: forgets it, and the step that was interrupted. Then enter() another one.
  void abandon();
  int missed_peer() const;
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
  // workers at once, maybe some steps later: what is to be done now is returned. Where the plan has another strategy, that is to
  // regroup; where it ends, to stop.
  Requests advance(Observer& observer, const Requests& requests = {});
  void run(Observer& observer) {
    while (!finished()) advance(observer);
  }

  Score test();  // on the test part, with the weights as they are now; all workers of a team together

  // What is profiled goes out when its last step is done; at the end of a training that may be never.
  void finish_profile() { profiler_.finish(); }
  observe::Spans& spans() { return profiler_.spans(); }

  const Cursor& cursor() const { return cursor_; }
  const engine::CompileReport& compile_report() const { return replica_.compile_report(); }
  std::span<const float> parameters() const { return replica_.parameters(); }
  const std::vector<double>& shares() const { return shares_; }
  std::string_view duty() const { return strategy_ == nullptr ? "worker" : strategy_->duty(); }
  const LastBatch& last_batch() const { return last_batch_; }
  const Plan& plan() const { return plan_; }
  bool reached_the_plans_end() const { return plan_.ends_at(cursor_.samples_seen); }
  int rank() const { return team_.rank(); }
  int lead() const;  // rank of the worker that knows what all have done, and tells others
  bool is_lead() const { return rank() == lead(); }
  bool works_by_lease() const { return strategy_ != nullptr && strategy_->leased() != nullptr; }
  bool is_resumed() const { return strategy_ != nullptr && strategy_->resumes(); }  // its state was kept by servers when the team changed
  std::int64_t samples() const { return data_.train->size(); }
  std::int64_t batch_size() const { return job_.train.batch_size; }

 private:
  StepRecord step(const data::Batch& batch, Seconds asked, const Requests& requests);
  StepRecord record_of(const engine::Outcome& outcome, bool is_skipped) const;
  void count(const engine::Outcome& outcome, bool is_skipped);
  bool is_last(const data::Batch& batch) const noexcept;
  std::int64_t skips_left() const noexcept;
  void note_skip(const StepResult& result);
  void count_own(std::int64_t samples);
  bool note_skip(const ps::WorkDone& done, Skips& skips);
  EpochRecord finish_epoch();
  void watch(const Score& validation);
  const data::Batch& next_batch();
  Score score(const std::shared_ptr<const data::Source>& samples);
  Position position() const;
  Position furthest_worker(int& rank);
  struct Origin {
    int root = 0;
    bool averages_statistics = false;
    bool is_everywhere = false;  // all have the same parameters and slots
    double weight = 1;           // of this worker's statistics
  };
  // What the last strategy was like, for the record of a switch.
  struct Handover {
    std::int64_t worker_batch = 0, workers = 0;
    double rate_factor = 1;
    Seconds begun{};  // with draining, after the last step
    Seconds drained{};
    Seconds entered{};
    Seconds stated{};
    double weight = 1;      // of this worker's statistics
    bool is_clean = false;  // all have drained at the same place, and nothing has happened since
  };
  void make_strategy(std::size_t phase);
  std::int64_t capacity_in(const StrategyPart& part, const std::vector<double>& shares, int rank) const;
  std::int64_t planned_capacity(const std::vector<double>& shares, int rank) const;
  int phase_of_servers();
  bool goes_on_with_servers();
  void heed_the_plan();
  void come_to_rest();
  void begin_phase(const Origin& origin);
  void tell_switch(Observer& observer);
  std::int64_t worker_batch() const;
  std::int64_t workers() const;
  Origin go_on();
  Origin begin_with_the_furthest(const Committed& committed);
  Origin find_origin(const Committed& committed);
  void synchronize(const Origin& origin);
  void rebalance(Observer& observer);
  engine::StatisticsExchange statistics_for(const data::Batch& batch);
  void compile(std::int64_t samples);
  void compile_evaluator();
  void drain();
  double statistics_weight() const;
  void begin_stream();
  void check_loss(const engine::Outcome& outcome) const;

  Requests advance_by_lease(Observer& observer, const Requests& requests);
  void begin_stretch();
  void step_by_lease();
  comm::PeerWait* peer_wait() const { return team_.neighbours().waits.get(); }
  void note_wait_for_batch(bool reads);
  void note_idleness();
  void record_work(Observer& observer);
  Requests meet(Observer& observer);

  const Job& job_;
  const data::DataSets& data_;
  const Clock& clock_;
  std::function<void(std::int64_t, std::string_view)> at_;
  std::function<bool()> gives_up_;
  PushEvents events_;
  EnterPhase enter_phase_;
  AnatomyLog anatomy_;
  Profiler profiler_;
  Replica replica_;
  std::filesystem::path algorithm_cache_;
  std::optional<Evaluator> evaluator_;
  optim::Schedule schedule_;
  Team team_;
  std::vector<double> shares_;
  SpeedShares speed_;
  LinkSpeeds links_;
  Plan plan_;
  std::int64_t stop_at_ = 0;  // samples: where the plan has something else
  Handover handover_;
  std::optional<SwitchRecord> switch_;  // to be told with the next step
  std::any kept_;                       // by the strategy of one generation for that of the next
  std::int64_t last_generation_ = 0;    // that this worker was in
  std::unique_ptr<Strategy> strategy_;
  Cursor cursor_;
  std::int64_t lineage_ = -1;         // generation that the state was last shared in; -1: initial values, which count for nothing
  bool is_interrupted_ = false;       // what follows holds, unless the step comes to its end
  std::vector<float> states_before_;  // the step that runs: forward changes statistics, and the step may have to be done again
  LastBatch last_batch_;
  Requests agreed_;             // in the last step
  std::int64_t own_skips_ = 0;  // steps of this worker in a row that were skipped
  std::int64_t skips_ = 0;      // the same of all workers, at the lead
  // Work by lease.
  bool is_whole_ = true;        // this node has all of the state, not only what servers lent it
  bool is_in_stretch_ = false;  // between two meetings
  bool is_idle_ = false;        // this node has nothing to compute, and has said so
  bool is_through_ = false;     // there is no more work for this node in this stretch
  Requests asked_;              // not yet agreed
  double own_samples_ = 0;      // since statistics were averaged
  std::int64_t own_steps_ = 0;  // of this node; in step with the others they are those of all
  double work_waited_ = 0;      // by the end of the last step
  Seconds stretch_seconds_{};   // when the last work was recorded
  double learning_rate_ = 0;
  double epoch_exposed_ = 0, epoch_exchange_ = 0;
  std::optional<data::BatchStream> stream_;  // begun by the first step, where the cursor then stands
  data::StreamTimes times_at_epoch_;
};

}  // namespace trireme::train
