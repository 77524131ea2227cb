// SPDX-License-Identifier: Apache-2.0
// A stretch of work by lease: a worker's own steps, the lead's record of all, and the meeting at the end.
#include "trireme/train/loop/leased_loop.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/train/team/non_finite.h"

namespace trireme::train {
namespace {

constexpr Seconds kLook{0.05};  // at whether there is something to do for a node that does not compute

}  // namespace

LeasedLoop::LeasedLoop(const LoopContext& context, LeasedWork& work)
    : Loop(context, BatchFeed::Leases{.size = work.lease_size(),
                                      .next = [&work] { return work.next(); },
                                      .waits_on = [this](bool reads) { on_batch_wait(reads); }}),
      work_(work) {}

void LeasedLoop::divide_work() {
  WorkGroup& group = context().group;
  const int rank = group.team.rank();
  const std::vector<double> even(static_cast<std::size_t>(group.team.size()), 1.0);
  if (work_.computes(rank)) context().compiler.compile(std::max(work_.lease_size(), context().compiler.capacity(even, rank)));
  group.shares.clear();
  for (int node = 0; node < group.team.size(); ++node) group.shares.push_back(work_.computes(node) ? 1 : 0);
}

void LeasedLoop::apply_shares(std::vector<double>) { ensure(false, "workers by lease have no shares of a batch"); }

void LeasedLoop::resume() {
  is_in_stretch_ = true;
  recorded_ = context().clock.now();
}

void LeasedLoop::drain() {
  if (!context().state.is_whole) Loop::drain();
}

void LeasedLoop::abandon() {
  work_.interrupt();                                           // the stream may wait for it
  if (work_.is_under_way()) context().state.is_whole = false;  // also if the stretch broke as it began: others may have pushed
  feed().close();
}

// A worker's own step, or a look at the others' by a node that has nothing to compute; and the meeting, when all are done.
Requests LeasedLoop::advance(Observer& observer, const Requests& requests) {
  if (!is_in_stretch_) begin_stretch();
  report_switch(observer);
  ask(requests);
  const bool computes = work_.computes(context().group.team.rank()) && !is_retired_;
  if (computes)
    step();
  else
    on_idle();
  record_work(observer);
  if (!work_.is_over(computes ? Seconds(0) : kLook)) return {};
  record_work(observer);
  return meet(observer);
}

void LeasedLoop::begin_stretch() {
  TrainingState& state = context().state;
  const Cursor& cursor = state.cursor;
  is_idle_ = false;
  context().monitor.at("connect");
  const std::int64_t left = std::min(context().progress.samples() - cursor.epoch_offset, context().course.stop_at - cursor.samples_seen);
  work_.begin(cursor, cursor.epoch_offset + left);
  context().handover.on_state_changed();
  is_in_stretch_ = true;
  state.is_whole = false;
  is_retired_ = false;
  recorded_ = context().clock.now();
  state.counts.steps = cursor.step;  // a node on its own counts from where all were together
}

void LeasedLoop::ask(const Requests& requests) {
  if (requests.any() && !asked_.any()) work_.stop();
  asked_.stop |= requests.stop;
  asked_.checkpoint |= requests.checkpoint;
  asked_.regroup |= requests.regroup;
}

void LeasedLoop::step() {
  failpoint("step.begin");
  TrainingState& state = context().state;
  context().monitor.begin_step(state.counts.steps + 1, state.cursor.epoch, state.replica);
  const Seconds asked = context().clock.now();
  const data::Batch* const batch = next_batch();
  if (batch == nullptr) return retire();
  StepAttempt attempt(state.replica, context().clock, asked);
  const StepResult result = run(*batch, attempt);
  on_step_run(result);
  attempt.commit(result.is_skipped);
  count_own(result.is_skipped ? 0 : batch->size);
  const double work_waited = work_.waited_for_work();
  context().monitor.end_step({.step = ++state.counts.steps,
                              .epoch = batch->epoch,
                              .samples = batch->size,
                              .batch_wait = attempt.batch_wait(),
                              .work_wait = work_waited - std::exchange(work_waited_, work_waited),
                              .stream = feed().times(),
                              .times = result.times},
                             state.replica.ops());
}

const data::Batch* LeasedLoop::next_batch() {
  if (!feed().is_open()) {
    open_feed();
    work_waited_ = work_.waited_for_work();
  }
  const data::Batch* const batch = feed().next();
  if (comm::PeerWait* const waits = context().group.peer_wait()) waits->end();
  return batch;
}

void LeasedLoop::retire() {
  context().monitor.pause();
  context().monitor.enter("exchange");
  const comm::PeerWait::Scope waits(context().group.peer_wait(), comm::PeerWait::kUnknownPeer);
  is_retired_ = work_.retire();
  count_own(0);
  feed().close();
}

StepResult LeasedLoop::run(const data::Batch& batch, StepAttempt& attempt) {
  TrainingState& state = context().state;
  state.counts.learning_rate = context().learning_rate_at(batch.epoch * context().progress.samples() + batch.offset);
  return context().group.strategy->run({.batch = batch,
                                        .learning_rate = state.counts.learning_rate,
                                        .step = state.cursor.step + 1,
                                        .enter = context().monitor.enter_phase(),
                                        .skips_left = skips_left(),
                                        .skipped_before = state.counts.skips,
                                        .states_before = &attempt.states_before()},
                                       state.replica);
}

// A step that this worker has done may turn out to be skipped when the next one has begun.
void LeasedLoop::count_own(std::int64_t samples) { context().state.counts.samples += static_cast<double>(samples - work_.take_unused()); }

// What workers have done since the last time, as reported to the lead; the others learn it when all meet.
void LeasedLoop::record_work(Observer& observer) {
  TrainingState& state = context().state;
  for (const ps::WorkDone& done : work_.done()) {
    Skips skips;
    const bool is_skipped = count_skips(done, skips);
    const Seconds now = context().clock.now();
    const EpochProgress::Step step{
        .outcome = {.samples = done.samples, .correct = done.correct, .loss = done.loss, .penalty = done.penalty},
        .is_skipped = is_skipped,
        .seconds = (now - std::exchange(recorded_, now)).count(),
        .exposed_seconds = done.wait_seconds / context().group.team.size(),
        .exchange_seconds = done.wait_seconds / context().group.team.size()};
    context().progress.count(step);
    state.counts.learning_rate = done.rate;
    StepRecord record = context().progress.step_record(step, done.rate, context().group.workers());
    record.seconds = done.seconds;
    record.compute_seconds = done.compute_seconds;
    record.exposed_seconds = record.exchange_seconds = done.wait_seconds;
    record.skips = skips;
    record.worker = work_.rank_of(done.worker);
    record.staleness = done.staleness;
    observer.step(record);
  }
  if (const auto straggler = work_.straggler()) observer.straggler(*straggler);
}

// Workers one after the other may each skip less than the limit, and yet nothing is trained. Of an update that was made without some
// workers' parts (backup workers) only these are counted.
bool LeasedLoop::count_skips(const ps::WorkDone& done, Skips& skips) {
  const bool is_skipped = !done.faulty.empty() && (done.lease.round >= 0 || !done.worker.empty());
  for (const std::string& node : done.faulty) skips.ranks.push_back(work_.rank_of(node));
  skips.steps = is_skipped ? 1 : static_cast<std::int64_t>(done.faulty.size());
  std::int64_t& in_a_row = context().state.counts.team_skips;
  in_a_row = is_skipped ? in_a_row + 1 : 0;
  if (in_a_row > context().job.train.max_skipped_steps)
    throw_non_finite({.step = context().state.cursor.step + 1,
                      .loss = std::numeric_limits<double>::quiet_NaN(),
                      .ranks = skips.ranks,
                      .learning_rate = done.rate,
                      .skipped_before = in_a_row - 1});
  if (is_skipped) ++context().state.cursor.slots_from;
  return is_skipped;
}

Requests LeasedLoop::meet(Observer& observer) {
  TrainingState& state = context().state;
  Team& team = context().group.team;
  struct Report {
    Cursor cursor;
    Requests asked;
    double learning_rate = 0;
  } report{.cursor = state.cursor, .asked = std::exchange(asked_, {}), .learning_rate = state.counts.learning_rate};
  context().monitor.enter("meet");
  is_idle_ = false;
  if (comm::PeerWait* const waits = context().group.peer_wait()) waits->end();
  context().monitor.pause();
  feed().close();
  team.broadcast(std::span(&report, 1), lead(), team.patience());
  is_in_stretch_ = false;
  state.cursor = report.cursor;
  state.counts.learning_rate = report.learning_rate;
  if (context().progress.is_epoch_over()) {
    if (const auto record = work_.server_record()) observer.server(*record);
    const EpochRecord record = finish_epoch();
    if (team.rank() == lead()) observer.epoch(record);
  }
  const Requests agreed = end_step(report.asked);
  if (agreed.checkpoint) drain();  // nothing is left to do if it was drained already
  return agreed;
}

// A node that waits for work waits for others; one that waits for samples does not.
void LeasedLoop::on_batch_wait(bool reads) {
  context().monitor.at(context().state.counts.steps + 1, reads ? "wait" : "lease");
  if (comm::PeerWait* const waits = context().group.peer_wait()) reads ? waits->end() : waits->begin(comm::PeerWait::kUnknownPeer);
}

// A worker that has retired waits for the others; a server of its own machine only serves.
void LeasedLoop::on_idle() {
  if (std::exchange(is_idle_, true)) return;
  context().monitor.at(is_retired_ ? "meet" : "serve");
  comm::PeerWait* const waits = context().group.peer_wait();
  if (waits != nullptr && is_retired_) waits->begin(comm::PeerWait::kUnknownPeer);
}

}  // namespace trireme::train
