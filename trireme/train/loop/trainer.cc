// SPDX-License-Identifier: Apache-2.0
// A trainer's place in a team: what it computes there, and whose state it goes on with.
#include "trireme/train/loop/trainer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/data/source/division.h"
#include "trireme/train/job/policies.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/team/leased_work.h"

namespace trireme::train {
namespace {

optim::ScheduleSpan schedule_span(const Trainer::Setup& setup) {
  return {.samples_per_epoch = setup.data.train->size(),
          .epochs = static_cast<double>(setup.job.train.epochs),
          .batch_size = setup.job.train.batch_size};
}

PlanSpan plan_span(const Trainer::Setup& setup) {
  return {.samples_per_epoch = setup.data.train->size(), .epochs = setup.job.train.epochs, .batch_size = setup.job.train.batch_size};
}

}  // namespace

Trainer::Trainer(const Setup& setup, const std::filesystem::path& algorithm_cache)
    : job_((check_fit(setup.job.graph, setup.data.train->format(), setup.job.data.title()), setup.job)),
      data_(setup.data),
      clock_(setup.clock),
      at_(setup.at),
      gives_up_(setup.gives_up),
      events_(setup.events),
      enter_phase_([this](std::string_view phase) {
        if (at_) at_(cursor_.step + 1, phase);
        profiler_.enter(phase);
      }),
      anatomy_(setup.clock, setup.anatomy),
      profiler_(parse_profile(setup.job.observe.profile), setup.profile),
      replica_(job_, algorithm_cache),
      algorithm_cache_(algorithm_cache),
      schedule_(job_.schedule, schedule_span(setup)),
      team_(Team::alone()),
      speed_(job_.train.batch_size, shares_rule(job_.strategy.team.shares, job_.strategy.team.straggler)),
      plan_(plan_of(job_.strategy, plan_span(setup))) {
  if (!setup.team_follows) enter(Team::alone());
}

Trainer::~Trainer() { abandon(); }

// Not at all on a node that computes nothing.
void Trainer::compile(std::int64_t samples) {
  if (samples == 0) return;
  replica_.compile(samples);
  compile_evaluator();
}

void Trainer::compile_evaluator() {
  if (evaluator_) return;
  evaluator_.emplace(job_.graph,
                     Evaluator::Options{.batch_size = job_.train.batch_size,
                                        .threads = static_cast<int>(job_.train.threads),
                                        .algorithm_cache = algorithm_cache_,
                                        .gives_up = gives_up_,
                                        // As in a step, so that a read that hangs is known for one.
                                        .waits =
                                            [this] {
                                              if (at_) at_(cursor_.step + 1, "wait");
                                            },
                                        .moved =
                                            [this] {
                                              if (at_) at_(cursor_.step + 1, "evaluate");
                                            }},
                     clock_);
}

int Trainer::enter(Team team, const Committed& committed) {
  abandon();
  asked_ = {};
  team_ = std::move(team);
  handover_.entered = clock_.now();
  links_ = {};
  speed_ = SpeedShares(job_.train.batch_size, shares_rule(job_.strategy.team.shares, job_.strategy.team.straggler));
  Origin origin;
  if (goes_on_with_servers()) {
    origin = go_on();
  } else {
    kept_.reset();
    origin = begin_with_the_furthest(committed);
    begin_phase(origin);
    handover_.stated = clock_.now();
    make_strategy(static_cast<std::size_t>(cursor_.phase));
  }
  lineage_ = last_generation_ = static_cast<std::int64_t>(team_.generation());
  stop_at_ = plan_.next_stop(cursor_.samples_seen);
  strategy_->entered(cursor_);
  return origin.root;
}

void Trainer::make_strategy(std::size_t phase) {
  const StrategyPart& part = plan_.phases[phase].strategy;
  const bool is_local = team_.is_alone() && !kept_.has_value();
  const StrategyEntry& entry = find_strategy(is_local ? "local" : part.name);
  strategy_ = entry.make({.team = team_,
                          .space = replica_.space(),
                          .clock = clock_,
                          .sync_batch_norm = job_.strategy.team.sync_batch_norm,
                          .measures_noise = is_automatic(job_.strategy),
                          .replica = replica_,
                          .batch_size = job_.train.batch_size,
                          .kept = kept_,
                          .events = events_,
                          .spans = &profiler_.spans()},
                         part.options);
  std::vector<double> shares(static_cast<std::size_t>(team_.size()), 1.0);
  if (LeasedWork* const work = strategy_->leased()) {
    const std::vector<double> even = shares;
    for (int rank = 0; rank < team_.size(); ++rank) shares[static_cast<std::size_t>(rank)] = work->computes(rank) ? 1 : 0;
    if (work->computes(team_.rank())) compile(std::max(work->lease_size(), planned_capacity(even, team_.rank())));
    shares_ = std::move(shares);
  } else {
    take_shares(std::move(shares));
  }
}

// The state is where it was; only the place in it must be told to those who come anew.
Trainer::Origin Trainer::go_on() {
  const int lead = strategy_->leased()->lead();
  Cursor cursor = cursor_;
  team_.broadcast(std::span(&cursor, 1), lead);
  team_.average(replica_.states(), lineage_ >= 0 ? 1 : 0);
  cursor_ = cursor;
  is_whole_ = is_through_ = is_idle_ = false;
  is_in_stretch_ = true;
  stretch_seconds_ = clock_.now();
  return {.root = lead};
}

Trainer::Origin Trainer::begin_with_the_furthest(const Committed& committed) {
  if (!std::exchange(is_whole_, true)) {  // what this node has is not the whole state any more
    replica_.reset();
    cursor_ = {};
    lineage_ = -1;
  }
  is_in_stretch_ = false;
  const Origin origin = find_origin(committed);
  synchronize(origin);
  return origin;
}

void Trainer::abandon() {
  anatomy_.pause();
  if (LeasedWork* const work = strategy_ != nullptr ? strategy_->leased() : nullptr) {
    work->interrupt();                            // the stream may wait for it
    if (work->is_under_way()) is_whole_ = false;  // also if the stretch broke as it began: others may have pushed
  }
  stream_.reset();
  strategy_.reset();  // it works with the team
  team_ = Team::alone();
  if (std::exchange(is_interrupted_, false)) replica_.states() = states_before_;
}

int Trainer::missed_peer() const {
  const int beside = strategy_ != nullptr ? strategy_->missed_peer() : -1;
  return beside >= 0 ? beside : team_.missed_peer();
}

void Trainer::take_shares(std::vector<double> shares) {
  shares_ = std::move(shares);
  compile(planned_capacity(shares_, team_.rank()));
  compile_evaluator();  // also where batches are so small that this worker has no part of any
  stream_.reset();
}

Position Trainer::position() const {
  if (lineage_ < 0 || !is_whole_) return {};
  return {.generation = lineage_, .step = cursor_.step, .epoch = cursor_.epoch};
}

Position Trainer::furthest_worker(int& rank) {
  const Position own = position();
  const std::vector<double> generations = team_.gather(static_cast<double>(own.generation));
  const std::vector<double> steps = team_.gather(static_cast<double>(own.step));
  const std::vector<double> epochs = team_.gather(static_cast<double>(own.epoch));
  Position best;
  for (int i = 0; i < team_.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Position there{.generation = std::llround(generations[at]), .step = std::llround(steps[at]), .epoch = std::llround(epochs[at])};
    if (there <= best) continue;
    best = there;
    rank = i;
  }
  return best;
}

Trainer::Origin Trainer::find_origin(const Committed& committed) {
  Origin origin;
  const Position furthest = furthest_worker(origin.root);
  origin.averages_statistics = furthest > Position{};
  const std::vector<double> same = team_.gather(handover_.is_clean && position() == furthest ? 1 : 0);
  origin.is_everywhere = std::ranges::all_of(same, [](double has) { return has > 0; });
  if (team_.rank() == 0 && committed) {
    if (auto checkpoint = committed(furthest)) {
      restore(std::move(*checkpoint));
      origin = {.root = 0, .averages_statistics = false};
    }
  }
  team_.broadcast(std::span(&origin, 1), 0);
  origin.weight = position() == furthest ? handover_.weight : 0;
  return origin;
}

// Received beside what this worker has, and taken over when all of it is here: a team that breaks in between leaves each worker with a
// state that is whole, be it the old one or the new.
void Trainer::synchronize(const Origin& origin) {
  if (team_.is_alone()) return;
  const bool receives = team_.rank() != origin.root;
  const auto shared = [&](std::vector<float>& own) {
    std::vector<float> received(receives ? own.size() : 0);
    team_.broadcast(std::span(receives ? received : own), origin.root);
    return received;
  };
  Cursor cursor = cursor_;
  team_.broadcast(std::span(&cursor, 1), origin.root);
  if (receives) failpoint("state.cursor_received");
  std::vector<float> parameters;
  std::vector<std::vector<float>> slots;
  if (!origin.is_everywhere) {
    parameters = shared(replica_.parameters());
    if (receives) failpoint("state.parameters_received");
    for (std::vector<float>& slot : replica_.slots()) slots.push_back(shared(slot));
    if (receives) failpoint("state.slots_received");
  }
  // Each worker has its own statistics until the end of an epoch; those of all who came as far count.
  std::vector<float> states = replica_.states();
  if (origin.averages_statistics)
    team_.average(states, origin.weight);
  else
    team_.broadcast(std::span(states), origin.root);
  cursor_ = cursor;
  replica_.states() = std::move(states);
  if (receives && !origin.is_everywhere) {
    replica_.parameters() = std::move(parameters);
    replica_.slots() = std::move(slots);
  }
  lineage_ = static_cast<std::int64_t>(team_.generation());
}

void Trainer::drain() {
  if (works_by_lease() && is_whole_) return;
  const comm::PeerWait::Scope waits(peer_wait(), comm::PeerWait::kSomebody);
  strategy_->drain(replica_);
  is_whole_ = true;
}

// Of this worker's statistics among those of all.
double Trainer::statistics_weight() const {
  return strategy_->leased() != nullptr ? own_samples_ : shares_[static_cast<std::size_t>(team_.rank())];
}

int Trainer::lead() const { return strategy_ != nullptr && strategy_->leased() != nullptr ? strategy_->leased()->lead() : 0; }

Checkpoint Trainer::checkpoint() {
  anatomy_.pause();
  drain();
  Checkpoint out{.cursor = cursor_,
                 .generation = static_cast<std::int64_t>(team_.generation()),
                 .parameters = replica_.parameters(),
                 .states = replica_.states(),
                 .slots = replica_.slots(),
                 .rank = team_.rank()};
  // A copy: when checkpoints are made must not change what is trained.
  team_.average(out.states, statistics_weight());
  for (const std::string_view name : replica_.optimizer().slots()) out.slot_names.emplace_back(name);
  out.normalization = data_.normalization;
  out.class_names = data_.class_names;
  return out;
}

void Trainer::restore(Checkpoint checkpoint) {
  const auto names = replica_.optimizer().slots();
  if (!std::ranges::equal(names, checkpoint.slot_names))
    throw Error{failed_precondition, "the checkpoint was made with another optimizer: its slots are [{}], those of '{}' are [{}]",
                fmt::join(checkpoint.slot_names, ", "), replica_.optimizer().entry().name, fmt::join(names, ", ")};
  const Cursor& cursor = checkpoint.cursor;
  if (cursor.epoch_offset >= data_.train->size())
    throw Error{failed_precondition,
                "the checkpoint stands after {} samples of an epoch, and there are {} training samples; leave the data as they were",
                cursor.epoch_offset, data_.train->size()};
  ensure(checkpoint.parameters.size() == replica_.parameters().size() && checkpoint.states.size() == replica_.states().size(),
         "a checkpoint of this model");
  cursor_ = checkpoint.cursor;
  replica_.parameters() = std::move(checkpoint.parameters);
  replica_.states() = std::move(checkpoint.states);
  replica_.slots() = std::move(checkpoint.slots);
  lineage_ = checkpoint.generation;
  is_whole_ = true;
  handover_.is_clean = false;
  stream_.reset();
}

}  // namespace trireme::train
