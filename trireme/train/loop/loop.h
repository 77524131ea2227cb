// SPDX-License-Identifier: Apache-2.0
// How a team makes its steps: in step with each other (SteppedLoop), or each worker by its leases (LeasedLoop).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/job/job.h"
#include "trireme/train/loop/batch_feed.h"
#include "trireme/train/loop/epoch_progress.h"
#include "trireme/train/loop/evaluation.h"
#include "trireme/train/loop/handover.h"
#include "trireme/train/loop/plan_compiler.h"
#include "trireme/train/loop/step_monitor.h"
#include "trireme/train/loop/training_state.h"
#include "trireme/train/loop/work_group.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/records/requests.h"

namespace trireme::train {

// What a loop works with: all of it continues from one team to the next, and outlives the loop.
struct LoopContext {
  const Job& job;
  const data::DataSets& data;
  const Clock& clock;
  const std::function<bool()>& gives_up;  // see data::StreamOptions
  const optim::Schedule& schedule;
  TrainingState& state;
  WorkGroup& group;
  StepMonitor& monitor;
  EpochProgress& progress;
  Evaluation& evaluation;
  PlanCourse& course;
  PlanCompiler& compiler;
  Handover& handover;

  double learning_rate_at(std::int64_t samples_seen) const {
    return state.replica.optimizer().learning_rate() * schedule.factor(static_cast<double>(samples_seen));
  }
};

class Loop {
 public:
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Before the team has its state: evenly among the workers, and this node is compiled for its part.
  virtual void divide_work() = 0;
  // Other relative sizes of the workers' parts, from the next step on. All workers at the same step.
  virtual void apply_shares(std::vector<double> shares) = 0;
  // The strategy resumes: what the last generation was at goes on.
  virtual void resume() {}

  // What this worker does next, up to a step and the evaluation after it. Returns what all workers agreed on; if that is to stop or to
  // regroup, the strategy is drained.
  virtual Requests advance(Observer& observer, const Requests& requests) = 0;
  virtual void drain();
  virtual void abandon() { feed_.close(); }
  void on_cursor_moved() { feed_.close(); }

  virtual bool is_by_lease() const = 0;
  virtual int lead() const = 0;                  // rank of the worker that knows what all have done, and reports it
  virtual double statistics_weight() const = 0;  // of this worker's among those of all

 protected:
  explicit Loop(const LoopContext& context, std::optional<BatchFeed::Leases> leases = {});

  const LoopContext& context() const { return context_; }
  BatchFeed& feed() { return feed_; }
  void open_feed();                               // where the cursor stands
  virtual std::int64_t worker_batch() const = 0;  // most samples that a worker computes at once
  std::int64_t skips_left() const noexcept;       // steps of this worker
  void on_step_run(const StepResult& result);     // throws if its loss is not a number
  void report_switch(Observer& observer);         // if there was one
  EpochRecord finish_epoch();                     // with the evaluation
  Requests end_step(Requests agreed);             // adds what the plan has here, and drains if the team ends

 private:
  Handover::Side side() const;
  void drain_for_handover();

  LoopContext context_;
  BatchFeed feed_;
};

// By what the strategy of the group is.
std::unique_ptr<Loop> make_loop(const LoopContext& context);

}  // namespace trireme::train
