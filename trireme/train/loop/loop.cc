// SPDX-License-Identifier: Apache-2.0
// What both loops do alike: the end of an epoch, the end of a phase, and steps that are skipped.
#include "trireme/train/loop/loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/train/loop/leased_loop.h"
#include "trireme/train/loop/stepped_loop.h"

namespace trireme::train {

std::unique_ptr<Loop> make_loop(const LoopContext& context) {
  if (LeasedWork* const work = context.group.strategy->leased()) return std::make_unique<LeasedLoop>(context, *work);
  return std::make_unique<SteppedLoop>(context);
}

Loop::Loop(const LoopContext& context, std::optional<BatchFeed::Leases> leases)
    : context_(context),
      feed_({.job = context.job,
             .data = context.data,
             .clock = context.clock,
             .cursor = context.state.cursor,
             .group = context.group,
             .gives_up = context.gives_up},
            std::move(leases)) {}

void Loop::open_feed() {
  feed_.open();
  context_.monitor.begin_stream();
}

void Loop::drain() {
  const comm::PeerWait::Scope waits(context_.group.peer_wait(), comm::PeerWait::kUnknownPeer);
  context_.group.strategy->drain(context_.state.replica);
  context_.state.is_whole = true;
}

Handover::Side Loop::side() const {
  return {.worker_batch = worker_batch(), .workers = context_.group.workers(), .rate_factor = context_.group.strategy->rate_factor()};
}

void Loop::drain_for_handover() {
  context_.handover.begin(side(), statistics_weight());
  drain();
  context_.handover.on_drained();
}

void Loop::report_switch(Observer& observer) {
  if (!context_.handover.has_switch()) return;
  context_.handover.report_switch(observer, side(), context_.learning_rate_at(context_.state.cursor.samples_seen));
}

std::int64_t Loop::skips_left() const noexcept {
  const auto& train = context_.job.train;
  return train.on_non_finite == "skip" ? std::max<std::int64_t>(0, train.max_skipped_steps - context_.state.counts.skips) : 0;
}

void Loop::on_step_run(const StepResult& result) {
  WorkerCounts& counts = context_.state.counts;
  if (!std::isfinite(result.outcome.loss))
    throw Error{aborted, "step {}: the loss is {}; lower train.optimizer.learning_rate ({:g} now)", context_.state.cursor.step + 1,
                result.outcome.loss, counts.learning_rate};
  counts.skips = result.is_skipped ? counts.skips + 1 : 0;
}

Requests Loop::end_step(Requests agreed) {
  const Cursor& cursor = context_.state.cursor;
  PlanCourse& course = context_.course;
  if (!context_.progress.finished() && cursor.samples_seen >= course.stop_at) {
    if (course.plan.ends_at(cursor.samples_seen))
      agreed.stop = true;
    else if (context_.group.team.generation() > 0)
      agreed.regroup = true;
    else
      course.find_stop(cursor.samples_seen);  // without others all strategies are the same
  }
  if (agreed.any()) context_.monitor.pause();
  if (agreed.stop || agreed.regroup) drain_for_handover();
  return agreed;
}

EpochRecord Loop::finish_epoch() {
  Replica& replica = context_.state.replica;
  WorkGroup& group = context_.group;
  const data::DataSets& data = context_.data;
  context_.monitor.enter("evaluate");
  context_.monitor.pause();
  const data::StreamTimes times = feed_.take_epoch_times();
  {
    const comm::PeerWait::Scope waits(group.peer_wait(), comm::PeerWait::kUnknownPeer);
    group.strategy->settle(replica);
  }
  group.team.average(replica.states(), statistics_weight());
  context_.state.counts.samples = 0;
  EpochRecord record = context_.progress.epoch_record(times, context_.state.counts.learning_rate);
  const ModelValues now{.parameters = replica.parameters(), .states = replica.states()};
  if (data.validation != nullptr)
    record.validation = context_.evaluation.score(data.validation, group, now);
  else if (data.test != nullptr)
    record.test = context_.evaluation.score(data.test, group, now);
  if (context_.progress.begin_next_epoch(data.validation != nullptr ? record.validation : record.test)) context_.state.keep_as_best();
  return record;
}

}  // namespace trireme::train
