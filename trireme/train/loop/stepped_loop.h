// SPDX-License-Identifier: Apache-2.0
// Workers in step with each other: each computes its share of every batch.
#pragma once

#include "trireme/train/loop/loop.h"
#include "trireme/train/loop/step_attempt.h"
#include "trireme/train/team/link_speeds.h"
#include "trireme/train/team/speed_shares.h"

namespace trireme::train {

class SteppedLoop final : public Loop {
 public:
  explicit SteppedLoop(const LoopContext& context);

  void divide_work() override;
  void apply_shares(std::vector<double> shares) override;
  Requests advance(Observer& observer, const Requests& requests) override;
  bool is_by_lease() const override { return false; }
  int lead() const override { return 0; }
  double statistics_weight() const override;

 private:
  std::int64_t worker_batch() const override;
  Requests step(Observer& observer, const Requests& requests);
  const data::Batch& next_batch();
  StepResult run(const data::Batch& batch, const Requests& requests, StepAttempt& attempt);
  StepRecord count(const data::Batch& batch, const StepResult& result, const StepAttempt& attempt);
  bool is_last(const data::Batch& batch) const noexcept;
  engine::StatisticsExchange statistics_for(const data::Batch& batch);
  void rebalance(Observer& observer);

  SpeedShares speed_;
  LinkSpeeds links_;
};

}  // namespace trireme::train
