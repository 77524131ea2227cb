// SPDX-License-Identifier: Apache-2.0
// Workers on their own: each computes the leases that it gets, and all meet when the work of a stretch is done.
#pragma once

#include "trireme/ps/server.h"
#include "trireme/train/loop/loop.h"
#include "trireme/train/loop/step_attempt.h"
#include "trireme/train/team/leased_work.h"

namespace trireme::train {

class LeasedLoop final : public Loop {
 public:
  // `work`: of the group's strategy.
  LeasedLoop(const LoopContext& context, LeasedWork& work);

  void divide_work() override;
  void apply_shares(std::vector<double> shares) override;
  void resume() override;
  Requests advance(Observer& observer, const Requests& requests) override;
  void drain() override;
  void abandon() override;
  bool is_by_lease() const override { return true; }
  int lead() const override { return work_.lead(); }
  double statistics_weight() const override { return context().state.counts.samples; }

 private:
  std::int64_t worker_batch() const override { return work_.lease_size(); }
  void begin_stretch();
  void ask(const Requests& requests);
  void step();
  const data::Batch* next_batch();
  void retire();
  StepResult run(const data::Batch& batch, StepAttempt& attempt);
  void count_own(std::int64_t samples);
  void record_work(Observer& observer);
  bool count_skips(const ps::WorkDone& done, Skips& skips);
  Requests meet(Observer& observer);
  void on_batch_wait(bool reads);
  void on_idle();

  LeasedWork& work_;
  bool is_in_stretch_ = false;  // between two meetings
  bool is_idle_ = false;        // this node has nothing to compute, and has reported that
  bool is_retired_ = false;     // there is no more work for this node in this stretch
  Requests asked_;              // not yet agreed
  double work_waited_ = 0;      // by the end of the last step
  Seconds recorded_{};          // when the last work was recorded
};

}  // namespace trireme::train
