// SPDX-License-Identifier: Apache-2.0
// A step of all workers: batch, strategy, counts; now and then other shares.
#include "trireme/train/loop/stepped_loop.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/data/source/division.h"

namespace trireme::train {

SteppedLoop::SteppedLoop(const LoopContext& context)
    : Loop(context),
      speed_(context.job.train.batch_size, shares_rule(context.job.strategy.team.shares, context.job.strategy.team.straggler)) {}

void SteppedLoop::divide_work() { apply_shares(std::vector<double>(static_cast<std::size_t>(context().group.team.size()), 1.0)); }

void SteppedLoop::apply_shares(std::vector<double> shares) {
  WorkGroup& group = context().group;
  group.shares = std::move(shares);
  context().compiler.compile(context().compiler.capacity(group.shares, group.team.rank()));
  context().evaluation.compile();  // also where batches are so small that this worker has no part of any
  feed().close();
}

Requests SteppedLoop::advance(Observer& observer, const Requests& requests) {
  report_switch(observer);
  Requests agreed;
  // Not so if a team broke while it evaluated.
  if (!context().progress.is_epoch_over()) agreed = step(observer, requests);
  if (context().progress.is_epoch_over()) observer.epoch(finish_epoch());
  agreed = end_step(agreed);
  const bool goes_on = !agreed.stop && !agreed.regroup;
  if (goes_on && !context().group.team.is_alone() && speed_.is_due()) rebalance(observer);
  return agreed;
}

Requests SteppedLoop::step(Observer& observer, const Requests& requests) {
  failpoint("step.begin");
  TrainingState& state = context().state;
  context().monitor.begin_step(state.cursor.step + 1, state.cursor.epoch, state.replica);
  const Seconds asked = context().clock.now();
  const data::Batch& batch = next_batch();
  StepAttempt attempt(state.replica, context().clock, asked);
  context().handover.on_state_changed();
  const StepResult result = run(batch, requests, attempt);
  on_step_run(result);
  attempt.commit(result.is_skipped);
  observer.step(count(batch, result, attempt));
  return result.requests;
}

const data::Batch& SteppedLoop::next_batch() {
  if (!feed().is_open()) open_feed();
  const data::Batch* const batch = feed().next();
  ensure(batch != nullptr, "the stream has as many epochs as the job");
  return *batch;
}

StepResult SteppedLoop::run(const data::Batch& batch, const Requests& requests, StepAttempt& attempt) {
  TrainingState& state = context().state;
  state.counts.learning_rate = context().learning_rate_at(state.cursor.samples_seen);
  return context().group.strategy->run({.batch = batch,
                                        .learning_rate = state.counts.learning_rate,
                                        .step = state.cursor.step + 1,
                                        .update = state.cursor.step + 1 - state.cursor.slots_from,
                                        .requests = requests,
                                        .statistics = statistics_for(batch),
                                        .enter = context().monitor.enter_phase(),
                                        .skips_left = skips_left(),
                                        .skipped_before = state.counts.skips,
                                        .states_before = &attempt.states_before(),
                                        .is_last = is_last(batch)},
                                       state.replica);
}

StepRecord SteppedLoop::count(const data::Batch& batch, const StepResult& result, const StepAttempt& attempt) {
  Cursor& cursor = context().state.cursor;
  WorkerCounts& counts = context().state.counts;
  const WorkGroup& group = context().group;
  const StepTimes& times = result.times;
  const EpochProgress::Step step{.outcome = result.outcome,
                                 .is_skipped = result.is_skipped,
                                 .seconds = attempt.seconds(),
                                 .exposed_seconds = times.exposed,
                                 .exchange_seconds = times.exchange};
  counts.last_batch = {.epoch = cursor.epoch, .offset = cursor.epoch_offset, .whole = batch.whole, .shares = group.shares};
  context().progress.count(step);
  counts.steps = cursor.step;
  if (!result.is_update) ++cursor.slots_from;
  speed_.count(batch.size, times.compute());
  links_.count(step.seconds, times.exposed);
  context().monitor.end_step({.step = cursor.step,
                              .epoch = cursor.epoch,
                              .samples = batch.size,
                              .batch_wait = attempt.batch_wait(),
                              .stream = feed().times(),
                              .times = times},
                             context().state.replica.ops());
  StepRecord record = context().progress.step_record(step, counts.learning_rate, group.workers());
  record.seconds = step.seconds;
  record.input_wait_seconds = attempt.batch_wait();
  record.compute_seconds = times.compute();
  record.exposed_seconds = times.exposed;
  record.exchange_seconds = times.exchange;
  record.optimizer_seconds = times.optimizer;
  record.noise_scale = result.noise_scale;
  record.skips = result.skips;
  return record;
}

bool SteppedLoop::is_last(const data::Batch& batch) const noexcept {
  const Cursor& cursor = context().state.cursor;
  return cursor.epoch_offset + batch.whole >= context().progress.samples() || cursor.samples_seen + batch.whole >= context().course.stop_at;
}

// A batch of which a worker has nothing, the last one of an epoch, is left to each worker's own statistics.
engine::StatisticsExchange SteppedLoop::statistics_for(const data::Batch& batch) {
  Team& team = context().group.team;
  if (team.is_alone() || !context().job.strategy.team.sync_batch_norm || context().job.graph.states().size() == 0) return {};
  for (int rank = 0; rank < team.size(); ++rank)
    if (data::part_of(batch.whole, context().group.shares, rank).size() == 0) return {};
  return {.samples = batch.whole, .sum = [&team](std::span<double> values) { team.sum(values); }};
}

void SteppedLoop::rebalance(Observer& observer) {
  Team& team = context().group.team;
  const std::vector<double>& shares = context().group.shares;
  context().monitor.enter("rebalance");
  context().monitor.pause();
  SpeedShares::Measured measured = speed_.measure(team, shares);
  if (measured.shares) apply_shares(std::move(*measured.shares));
  if (const auto slow = links_.measure(team)) observer.slow_link(*slow);
  if (!measured.straggler) return;
  if (measured.straggler->rank >= 0)
    measured.straggler->share =
        shares[static_cast<std::size_t>(measured.straggler->rank)] / std::accumulate(shares.begin(), shares.end(), 0.0);
  observer.straggler(*measured.straggler);
}

double SteppedLoop::statistics_weight() const {
  const WorkGroup& group = context().group;
  return group.shares[static_cast<std::size_t>(group.team.rank())];
}

std::int64_t SteppedLoop::worker_batch() const {
  const WorkGroup& group = context().group;
  std::int64_t most = 0;
  for (int rank = 0; rank < group.team.size(); ++rank)
    most = std::max(most, data::part_of(context().job.train.batch_size, group.shares, rank).size());
  return most;
}

}  // namespace trireme::train
