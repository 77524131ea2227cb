// SPDX-License-Identifier: Apache-2.0
// Times between the moments of a switch, and its record.
#include "trireme/train/loop/handover.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trireme/base/failpoint.h"

namespace trireme::train {
namespace {

constexpr double kMinWeight = 1e-6;  // of statistics to which this worker added nothing: they count if no worker has better ones

double between(Seconds from, Seconds to) { return from == Seconds{} ? 0.0 : (to - from).count(); }

}  // namespace

void Handover::begin(const Side& last, double statistics_weight) {
  last_ = last;
  begun_ = clock_.now();
  drained_ = entered_ = shared_ = {};
  weight_ = std::max(statistics_weight, kMinWeight);
  is_clean_ = false;
}

void Handover::on_drained() {
  drained_ = clock_.now();
  failpoint("switch.after_drain");
  is_clean_ = true;
}

void Handover::begin_phase(TrainingState& state, const Plan& plan, bool state_was_shared) {
  Cursor& cursor = state.cursor;
  const auto phase = static_cast<std::int64_t>(plan.phase_at(cursor.samples_seen));
  if (phase == cursor.phase) return;
  const Phase& next = plan.phases[static_cast<std::size_t>(phase)];
  const bool is_known = cursor.phase < static_cast<std::int64_t>(plan.phases.size());
  if (next.resets_slots) {
    for (std::vector<float>& slot : state.replica.slots()) std::ranges::fill(slot, 0.0F);
    cursor.slots_from = cursor.step;
  }
  switch_ = SwitchRecord{.step = cursor.step,
                         .epoch = cursor.epoch,
                         .samples_seen = cursor.samples_seen,
                         .from = is_known ? text_of(plan.phases[static_cast<std::size_t>(cursor.phase)].strategy) : "another strategy",
                         .to = text_of(next.strategy),
                         .why = next.why,
                         .slots_reset = next.resets_slots,
                         .state_was_shared = state_was_shared};
  cursor.phase = phase;
}

void Handover::report_switch(Observer& observer, const Side& now, double learning_rate) {
  SwitchRecord record = *std::exchange(switch_, std::nullopt);
  record.learning_rate = learning_rate;
  record.rate_factor_before = last_.rate_factor;
  record.rate_factor = now.rate_factor;
  record.worker_batch_before = last_.worker_batch;
  record.worker_batch = now.worker_batch;
  record.workers_before = last_.workers;
  record.workers = now.workers;
  record.drain_seconds = between(begun_, drained_);
  record.agree_seconds = between(drained_, entered_);
  record.state_seconds = between(entered_, shared_);
  record.begin_seconds = between(shared_, clock_.now());
  record.seconds = record.drain_seconds + record.agree_seconds + record.state_seconds + record.begin_seconds;
  observer.switched(record);
}

}  // namespace trireme::train
