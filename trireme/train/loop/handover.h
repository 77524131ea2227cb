// SPDX-License-Identifier: Apache-2.0
// From one strategy to the next: what the last one was like, what goes over, and what the switch cost.
#pragma once

#include <cstdint>
#include <optional>

#include "trireme/base/clock.h"
#include "trireme/train/job/plan.h"
#include "trireme/train/loop/training_state.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

class Handover {
 public:
  explicit Handover(const Clock& clock) : clock_(clock) {}

  // How a strategy trains.
  struct Side {
    std::int64_t worker_batch = 0;  // samples that a worker computes at once
    std::int64_t workers = 0;
    double rate_factor = 1;
  };
  // All nodes stand at the same place, and will go on together or not at all: they drain from now on. `statistics_weight`: of this worker.
  void begin(const Side& last, double statistics_weight);
  void on_drained();
  void on_team_entered() { entered_ = clock_.now(); }
  void on_state_shared() { shared_ = clock_.now(); }
  // The state is not what was drained any more.
  void on_state_changed() { is_clean_ = false; }

  bool is_clean() const { return is_clean_; }  // all have drained at the same place, and nothing has happened since
  double statistics_weight() const { return weight_; }

  // The phase of the plan where the state stands; if it is another one than the state was made in, that is a switch.
  void begin_phase(TrainingState& state, const Plan& plan, bool state_was_shared);
  bool has_switch() const { return switch_.has_value(); }  // that was not reported
  // When the next step begins, since only then the switch is over.
  void report_switch(Observer& observer, const Side& now, double learning_rate);

 private:
  const Clock& clock_;
  Side last_;
  Seconds begun_{}, drained_{}, entered_{}, shared_{};
  double weight_ = 1;
  bool is_clean_ = false;
  std::optional<SwitchRecord> switch_;  // to be reported
};

}  // namespace trireme::train
