// SPDX-License-Identifier: Apache-2.0
// Into a team and out of it: whose state it continues from, by which strategy, and in which loop.
#include "trireme/train/loop/trainer.h"

#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/train/job/class_weights.h"
#include "trireme/train/job/policies.h"
#include "trireme/train/team/evaluator.h"

namespace trireme::train {
namespace {

const Trainer::Setup& checked(const Trainer::Setup& setup) {
  check_fit(setup.job.graph, setup.data.train->format(), setup.job.data.title());
  return setup;
}

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
    : setup_(checked(setup)),
      schedule_(setup.job.schedule, schedule_span(setup)),
      state_(setup.job, algorithm_cache),
      monitor_(state_.cursor, setup.clock,
               {.at = setup.at, .anatomy = setup.anatomy, .profiler = setup.profiler, .traffic = setup.traffic}),
      progress_(setup.job, setup.data.train->size(), state_.cursor),
      evaluation_({.job = setup.job,
                   .data = setup.data,
                   .clock = setup.clock,
                   .monitor = monitor_,
                   .algorithm_cache = algorithm_cache,
                   .gives_up = setup.gives_up}),
      course_{.plan = plan_of(setup.job.strategy, plan_span(setup))},
      compiler_({.job = setup.job, .samples = setup.data.train->size(), .plan = course_.plan, .state = state_, .evaluation = evaluation_}),
      keeps_algorithms_(!algorithm_cache.empty()),
      handover_(setup.clock) {
  state_.replica.set_class_weights(class_weights(setup.job, *setup.data.train));
  if (!setup.team_follows) enter(Team::alone());
}

Trainer::~Trainer() { abandon(); }

void Trainer::apply_plan(Plan plan) {
  course_.plan = std::move(plan);
  course_.find_stop(state_.cursor.samples_seen);
}

void Trainer::prepare(int rank, int size) { compiler_.prepare(rank, size, group_.last_generation == 0 && keeps_algorithms_); }

int Trainer::enter(Team team, const Committed& committed) {
  abandon();
  group_.team = std::move(team);
  handover_.on_team_entered();
  StateOrigin states(state_, group_.team, handover_, progress_.samples());
  Origin origin;
  if (resumes_with_servers(states.phase_of_servers(group_.last_generation))) {
    origin = states.resume(loop_->lead());
    loop_->resume();
  } else {
    group_.kept.reset();
    origin = states.share_furthest(committed);
    handover_.begin_phase(state_, course_.plan, origin.is_everywhere);
    handover_.on_state_shared();
    make_loop(static_cast<std::size_t>(state_.cursor.phase));
  }
  state_.lineage = group_.last_generation = static_cast<std::int64_t>(group_.team.generation());
  course_.find_stop(state_.cursor.samples_seen);
  group_.strategy->entered(state_.cursor);
  return origin.root;
}

bool Trainer::resumes_with_servers(int phase) {
  if (phase < 0 || phase >= static_cast<int>(course_.plan.phases.size())) return false;
  make_loop(static_cast<std::size_t>(phase));
  if (group_.strategy->resumes()) return true;
  loop_.reset();
  group_.strategy.reset();
  return false;
}

void Trainer::make_loop(std::size_t phase) {
  const StrategyPart& part = course_.plan.phases[phase].strategy;
  const bool is_local = group_.team.is_alone() && !group_.kept.has_value();
  const StrategyEntry& entry = find_strategy(is_local ? "local" : part.name);
  group_.strategy = entry.make({.team = group_.team,
                                .space = state_.replica.space(),
                                .clock = setup_.clock,
                                .sync_batch_norm = setup_.job.strategy.team.sync_batch_norm,
                                .measures_noise = is_automatic(setup_.job.strategy),
                                .replica = state_.replica,
                                .batch_size = setup_.job.train.batch_size,
                                .kept = group_.kept,
                                .events = setup_.events,
                                .spans = monitor_.spans()},
                               part.options);
  loop_ = train::make_loop({.job = setup_.job,
                            .data = setup_.data,
                            .clock = setup_.clock,
                            .gives_up = setup_.gives_up,
                            .schedule = schedule_,
                            .state = state_,
                            .group = group_,
                            .monitor = monitor_,
                            .progress = progress_,
                            .evaluation = evaluation_,
                            .course = course_,
                            .compiler = compiler_,
                            .handover = handover_});
  loop_->divide_work();
}

void Trainer::abandon() {
  monitor_.pause();
  if (loop_ != nullptr) loop_->abandon();
  loop_.reset();
  group_.leave();
}

void Trainer::apply_shares(std::vector<double> shares) { loop_->apply_shares(std::move(shares)); }

Checkpoint Trainer::checkpoint() {
  monitor_.pause();
  loop_->drain();
  const Replica& replica = state_.replica;
  Checkpoint out{.cursor = state_.cursor,
                 .generation = static_cast<std::int64_t>(group_.team.generation()),
                 .parameters = replica.parameters(),
                 .states = replica.states(),
                 .slots = replica.slots(),
                 .rank = group_.team.rank()};
  // A copy: when checkpoints are made must not change what is trained.
  group_.team.average(out.states, loop_->statistics_weight());
  for (const std::string_view name : replica.optimizer().slots()) out.slot_names.emplace_back(name);
  out.normalization = setup_.data.normalization;
  out.class_names = setup_.data.class_names;
  out.best = state_.best;
  return out;
}

void Trainer::restore(Checkpoint checkpoint) {
  state_.restore(std::move(checkpoint), progress_.samples());
  handover_.on_state_changed();
  if (loop_ != nullptr) loop_->on_cursor_moved();
}

Requests Trainer::advance(Observer& observer, const Requests& requests) {
  ensure(!finished(), "a finished training does not advance");
  const ThreadScope threads(state_.replica.compile_report().threads);
  return loop_->advance(observer, requests);
}

Score Trainer::test() {
  ensure(setup_.data.test != nullptr, "a test needs test samples");
  // The best of the scores on these same samples would be too good.
  if (state_.best == nullptr || setup_.data.validation == nullptr)
    return evaluation_.score(setup_.data.test, group_, {.parameters = state_.replica.parameters(), .states = state_.replica.states()});
  std::vector<float> states = state_.best->states;
  return evaluation_.score(setup_.data.test, group_, {.parameters = state_.best->parameters, .states = states});
}

TeamView Trainer::team() const {
  TeamView view{
      .rank = group_.team.rank(), .missed_peer = group_.missed_peer(), .shares = group_.shares, .last_batch = state_.counts.last_batch};
  if (loop_ == nullptr) return view;
  view.lead = loop_->lead();
  view.is_by_lease = loop_->is_by_lease();
  view.is_resumed = group_.strategy->resumes();
  view.duty = group_.strategy->duty();
  return view;
}

}  // namespace trireme::train
