// SPDX-License-Identifier: Apache-2.0
// From one strategy to the next: where to stop, what goes over, what it cost; and what a node is told to be waiting for.
#include <algorithm>
#include <limits>
#include <utility>

#include "trireme/base/failpoint.h"
#include "trireme/data/source/division.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/team/leased_work.h"

namespace trireme::train {
namespace {

constexpr double kSomeWeight = 1e-6;  // of statistics to which this worker added nothing: they count if nobody has better ones

// The most samples this worker can get of a batch: the last one of an epoch is divided anew.
std::int64_t largest_part(std::int64_t batch_size, std::int64_t samples, const std::vector<double>& shares, int rank) {
  batch_size = std::min(batch_size, samples);
  const std::int64_t full = data::part_of(batch_size, shares, rank).size();
  return std::max(full, data::part_of(samples % batch_size, shares, rank).size());
}

constexpr double kHardlyMore = 1.125;

}  // namespace

void Trainer::take_plan(Plan plan) {
  plan_ = std::move(plan);
  stop_at_ = plan_.next_stop(cursor_.samples_seen);
}

std::int64_t Trainer::capacity_in(const StrategyPart& part, const std::vector<double>& shares, int rank) const {
  const StrategyEntry& entry = find_strategy(part.name);
  const auto size = static_cast<int>(shares.size());
  if (entry.capacity != nullptr && size > 1) return entry.capacity(part.options, job_.train.batch_size, rank, size);
  return largest_part(job_.train.batch_size, data_.train->size(), shares, rank);
}

// For the strategy of now, and for the others of the plan that need hardly more: compiling again would be the longest part of a
// switch, but a batch that is much smaller than what was compiled wastes more than that.
std::int64_t Trainer::planned_capacity(const std::vector<double>& shares, int rank) const {
  const std::int64_t now = capacity_in(plan_.at(cursor_.samples_seen).strategy, shares, rank);
  std::int64_t most = now;
  for (const Phase& phase : plan_.phases) {
    const std::int64_t then = capacity_in(phase.strategy, shares, rank);
    if (static_cast<double>(then) <= kHardlyMore * static_cast<double>(now)) most = std::max(most, then);
  }
  return most;
}

void Trainer::prepare(int rank, int size) {
  const std::vector<double> even(static_cast<std::size_t>(size), 1.0);
  const std::int64_t now = planned_capacity(even, rank);
  if (last_generation_ == 0 && !algorithm_cache_.empty())  // algorithms of later phases are timed now, not in the switch
    for (const Phase& phase : plan_.phases)
      if (const std::int64_t then = capacity_in(phase.strategy, even, rank); then > now) compile(then);
  compile(now);
}

// Most samples of any worker.
std::int64_t Trainer::worker_batch() const {
  if (LeasedWork* const work = strategy_->leased()) return work->lease_size();
  std::int64_t most = 0;
  for (int rank = 0; rank < team_.size(); ++rank) most = std::max(most, data::part_of(job_.train.batch_size, shares_, rank).size());
  return most;
}

std::int64_t Trainer::workers() const {
  return std::ranges::count_if(shares_, [](double share) { return share > 0; });
}

// After a step or a meeting.
void Trainer::heed_the_plan() {
  if (finished() || cursor_.samples_seen < stop_at_) return;
  if (plan_.ends_at(cursor_.samples_seen)) {
    agreed_.stop = true;
  } else if (team_.generation() > 0) {
    agreed_.regroup = true;
  } else {
    stop_at_ = plan_.next_stop(cursor_.samples_seen);  // without others all strategies are the same
  }
}

// All nodes stand at the same place, and will go on together or not at all.
void Trainer::come_to_rest() {
  handover_ = {.worker_batch = worker_batch(),
               .workers = workers(),
               .rate_factor = strategy_->rate_factor(),
               .begun = clock_.now(),
               .weight = std::max(statistics_weight(), kSomeWeight)};
  drain();
  handover_.drained = clock_.now();
  failpoint("switch.after_drain");
  handover_.is_clean = true;
}

// Phase of which servers hold the state, as far as nodes tell that have not slept; -1: it is with the nodes.
int Trainer::phase_of_servers() {
  const std::vector<double> seen = team_.gather(static_cast<double>(last_generation_));
  const bool is_awake = static_cast<double>(last_generation_) >= *std::ranges::max_element(seen);
  const std::vector<double> phases = team_.gather(is_awake && !is_whole_ ? static_cast<double>(cursor_.phase) : -1);
  return static_cast<int>(*std::ranges::max_element(phases));
}

bool Trainer::goes_on_with_servers() {
  const int phase = phase_of_servers();
  if (phase < 0 || phase >= static_cast<int>(plan_.phases.size())) return false;
  make_strategy(static_cast<std::size_t>(phase));
  if (strategy_->resumes()) return true;
  strategy_.reset();
  return false;
}

void Trainer::begin_phase(const Origin& origin) {
  const auto phase = static_cast<std::int64_t>(plan_.phase_at(cursor_.samples_seen));
  if (phase == cursor_.phase) return;
  const Phase& next = plan_.phases[static_cast<std::size_t>(phase)];
  const bool is_known = cursor_.phase < static_cast<std::int64_t>(plan_.phases.size());
  if (next.resets_slots) {
    for (std::vector<float>& slot : replica_.slots()) std::ranges::fill(slot, 0.0F);
    cursor_.slots_from = cursor_.step;
  }
  switch_ = SwitchRecord{.step = cursor_.step,
                         .epoch = cursor_.epoch,
                         .samples_seen = cursor_.samples_seen,
                         .from = is_known ? text_of(plan_.phases[static_cast<std::size_t>(cursor_.phase)].strategy) : "another strategy",
                         .to = text_of(next.strategy),
                         .why = next.why,
                         .slots_reset = next.resets_slots,
                         .state_was_shared = origin.is_everywhere};
  cursor_.phase = phase;
}

// When the next step begins, since only then the switch is over.
void Trainer::tell_switch(Observer& observer) {
  if (!switch_) return;
  SwitchRecord record = *std::exchange(switch_, std::nullopt);
  record.learning_rate = replica_.optimizer().learning_rate() * schedule_.factor(static_cast<double>(cursor_.samples_seen));
  record.rate_factor_before = handover_.rate_factor;
  record.rate_factor = strategy_->rate_factor();
  record.worker_batch_before = handover_.worker_batch;
  record.worker_batch = worker_batch();
  record.workers_before = handover_.workers;
  record.workers = workers();
  const auto between = [](Seconds from, Seconds to) { return from == Seconds{} ? 0.0 : (to - from).count(); };
  record.drain_seconds = between(handover_.begun, handover_.drained);
  record.agree_seconds = between(handover_.drained, handover_.entered);
  record.state_seconds = between(handover_.entered, handover_.stated);
  record.begin_seconds = between(handover_.stated, clock_.now());
  record.seconds = record.drain_seconds + record.agree_seconds + record.state_seconds + record.begin_seconds;
  observer.switched(record);
}

// A node that waits for work waits for others; one that waits for samples does not.
void Trainer::note_wait_for_batch(bool reads) {
  if (at_) at_(own_steps_ + 1, reads ? "wait" : "lease");
  if (comm::PeerWait* const waits = peer_wait()) reads ? waits->end() : waits->begin(comm::PeerWait::kSomebody);
}

// A worker that is through waits for the others; a server of its own machine only serves.
void Trainer::note_idleness() {
  if (std::exchange(is_idle_, true)) return;
  if (at_) at_(cursor_.step + 1, is_through_ ? "meet" : "serve");
  if (comm::PeerWait* const waits = peer_wait(); waits != nullptr && is_through_) waits->begin(comm::PeerWait::kSomebody);
}

}  // namespace trireme::train
