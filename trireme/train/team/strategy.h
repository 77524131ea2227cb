// SPDX-License-Identifier: Apache-2.0
// A strategy at work: it owns the whole step, from the batch to the updated parameters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/engine/executor.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/records/observer.h"
#include "trireme/train/records/requests.h"
#include "trireme/train/team/replica.h"
#include "trireme/train/team/team.h"

namespace trireme::train {

// Called at the beginning of each phase of a step: "wait", "compute", "exchange", "update", "evaluate".
using EnterPhase = std::function<void(std::string_view phase)>;

struct StepInput {
  const data::Batch& batch;  // this worker's part
  double learning_rate = 0;
  std::int64_t step = 0;                  // the first is 1
  std::int64_t update = 0;                // the same since the optimizer's slots began
  Requests requests;                      // this worker's
  engine::StatisticsExchange statistics;  // of batch-norm, over all workers; empty: each has its own
  const EnterPhase& enter;
  // A step that is not finite: so many more may be skipped, each as if it had not been; with none left, it is thrown.
  std::int64_t skips_left = 0;
  std::int64_t skipped_before = 0;  // in a row
  // Statistics before this step; a strategy that learns in it that the one before was skipped corrects them here as well.
  std::vector<float>* states_before = nullptr;
  bool is_last = false;  // of its epoch, or of what the plan has for this strategy: nothing may wait for the next one to be reported
};

// Seconds; docs/journal.md has the definitions.
struct StepTimes {
  double forward = 0;  // with the loss
  double backward = 0;
  double exposed = 0;  // waiting for other nodes, with nothing to compute
  double optimizer = 0;
  double exchange = 0;         // while at least one exchange was submitted and not finished; not part of the step's time
  std::int64_t staleness = 0;  // only of parameter servers

  double compute() const { return forward + backward; }
  double hidden() const { return std::max(0.0, exchange - exposed); }
};

struct StepResult {
  engine::Outcome outcome;  // over all workers
  Requests requests;        // of all workers: the same at each
  StepTimes times;
  double noise_scale = 0;  // of the gradients; 0: not measured in this step
  // This worker's part changed neither parameters nor slots, and must not change statistics either; its outcome is that of no samples.
  bool is_skipped = false;
  bool is_update = true;  // false: the optimizer's count of updates does not go on, as no worker made one
  Skips skips;            // as the record of this step shall have them
};

class LeasedWork;

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual StepResult run(const StepInput& input, Replica& replica) = 0;
  // Reaches a clean cut: afterwards all replicas hold the same parameters and slots.
  virtual void drain(Replica&) {}
  // Only the parameters, for an evaluation.
  virtual void settle(Replica& replica) { drain(replica); }

  // The state of the training is with this strategy's nodes and goes on as it is; nothing is to be handed out again.
  virtual bool resumes() const { return false; }
  // All replicas have the same state now, unless it resumes; then they have the same cursor.
  virtual void entered(const Cursor&) {}
  // By which the learning rate is multiplied where each worker's gradient is an update of its own.
  virtual double rate_factor() const { return 1; }
  // Not null: workers get leases, each at its own pace, instead of dividing each batch in step.
  virtual LeasedWork* leased() { return nullptr; }
  // What this node does: "worker", "server", "worker and server".
  virtual std::string_view duty() const { return "worker"; }
  // Rank of a node that a fault beside the team's collectives named as gone; -1: none.
  virtual int missed_peer() const { return -1; }
};

}  // namespace trireme::train
