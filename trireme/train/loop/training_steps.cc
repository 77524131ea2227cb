// SPDX-License-Identifier: Apache-2.0
// Steps and epochs: in step with the team, or by lease.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/data/source/division.h"
#include "trireme/data/source/subset.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/team/leased_work.h"

namespace trireme::train {
namespace {

constexpr Seconds kLook{0.05};  // at whether there is something to do for a node that does not compute

// Samples of `source` that worker `rank` evaluates: all who compute do their even part.
std::shared_ptr<const data::Source> evaluation_part(const std::shared_ptr<const data::Source>& source, int rank,
                                                    std::vector<double> shares) {
  if (shares.size() == 1) return source;
  for (double& share : shares) share = share > 0 ? 1 : 0;
  const data::Range part = data::part_of(source->size(), shares, rank);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(part.size()));
  std::iota(indices.begin(), indices.end(), part.begin);
  return std::make_shared<data::Subset>(source, std::move(indices));
}

data::StreamOptions stream_options(const Job& job, const Cursor& cursor, std::vector<double> shares, int rank,
                                   const std::function<bool()>& gives_up) {
  const data::PipelineOptions& pipeline = job.data.pipeline;
  return {.batch_size = job.train.batch_size,
          .seed = static_cast<std::uint64_t>(job.train.seed),
          .shuffle = pipeline.shuffle,
          .interleave = pipeline.interleave,
          .threads = pipeline.threads,
          .prefetch = pipeline.prefetch,
          .epochs = job.train.epochs,
          .first_epoch = cursor.epoch,
          .first_offset = cursor.epoch_offset,
          .shares = std::move(shares),
          .rank = rank,
          .gives_up = gives_up};
}

double per_second(double amount, double seconds) { return amount / std::max(seconds, 1e-9); }

// Means over the epoch so far.
Score epoch_score(const Cursor& cursor) {
  const double samples = std::max<double>(1, static_cast<double>(cursor.epoch_offset - cursor.left_out));
  return {.samples = cursor.epoch_offset, .loss = cursor.loss_sum / samples, .accuracy = static_cast<double>(cursor.correct) / samples};
}

}  // namespace

bool Trainer::stopped_early() const {
  const std::int64_t patience = job_.early_stopping.patience;
  return patience > 0 && cursor_.epoch_offset == 0 && cursor_.best_epoch >= 0 && cursor_.epoch - 1 - cursor_.best_epoch >= patience;
}

bool Trainer::finished() const { return cursor_.epoch >= job_.train.epochs || stopped_early(); }

Requests Trainer::advance(Observer& observer, const Requests& requests) {
  ensure(!finished(), "a finished training does not advance");
  const ThreadScope threads(compile_report().threads);
  agreed_ = {};
  if (strategy_->leased() != nullptr) return advance_by_lease(observer, requests);
  tell_switch(observer);
  // Not so if a team broke while it evaluated.
  if (cursor_.epoch_offset < data_.train->size()) {
    replica_.watch(profiler_.begin_step(cursor_.step + 1, cursor_.epoch));
    enter_phase_("wait");
    anatomy_.begin();
    const Seconds asked = clock_.now();
    const data::Batch& batch = next_batch();
    observer.step(step(batch, asked, requests));
  }
  if (cursor_.epoch_offset >= data_.train->size()) observer.epoch(finish_epoch());
  heed_the_plan();
  if (agreed_.any()) anatomy_.pause();
  if (agreed_.stop || agreed_.regroup)
    come_to_rest();
  else if (!team_.is_alone() && speed_.is_due())
    rebalance(observer);
  return agreed_;
}

// A worker's own step, or a look at the others' by a node that has nothing to compute; and the meeting, when everybody is through.
Requests Trainer::advance_by_lease(Observer& observer, const Requests& requests) {
  LeasedWork& work = *strategy_->leased();
  if (!is_in_stretch_) begin_stretch();
  tell_switch(observer);
  if (requests.any() && !asked_.any()) work.stop();
  asked_.stop |= requests.stop;
  asked_.checkpoint |= requests.checkpoint;
  asked_.regroup |= requests.regroup;
  const bool computes = work.computes(team_.rank()) && !is_through_;
  if (computes)
    step_by_lease();
  else
    note_idleness();
  record_work(observer);
  if (!work.is_over(computes ? Seconds(0) : kLook)) return {};
  record_work(observer);
  return meet(observer);
}

void Trainer::begin_stretch() {
  is_idle_ = false;
  if (at_) at_(cursor_.step + 1, "connect");
  const std::int64_t left = std::min(data_.train->size() - cursor_.epoch_offset, stop_at_ - cursor_.samples_seen);
  strategy_->leased()->begin(cursor_, cursor_.epoch_offset + left);
  handover_.is_clean = false;
  is_in_stretch_ = true;
  is_whole_ = false;
  is_through_ = false;
  stretch_seconds_ = clock_.now();
  own_steps_ = cursor_.step;  // a node on its own counts from where all were together
}

void Trainer::step_by_lease() {
  replica_.watch(profiler_.begin_step(own_steps_ + 1, cursor_.epoch));
  enter_phase_("wait");
  anatomy_.begin();
  if (!stream_) begin_stream();
  const Seconds asked = clock_.now();
  const data::Batch* const batch = stream_->next();
  if (comm::PeerWait* const waits = peer_wait()) waits->end();
  const double waited = (clock_.now() - asked).count();
  if (batch == nullptr) {
    anatomy_.pause();
    enter_phase_("exchange");
    const comm::PeerWait::Scope waits(peer_wait(), comm::PeerWait::kSomebody);
    is_through_ = strategy_->leased()->retire();
    count_own(0);
    stream_.reset();
    return;
  }
  states_before_ = replica_.states();
  is_interrupted_ = true;
  const auto seen = static_cast<double>(batch->epoch * data_.train->size() + batch->offset);
  learning_rate_ = replica_.optimizer().learning_rate() * schedule_.factor(seen);
  const StepResult result = strategy_->run({.batch = *batch,
                                            .learning_rate = learning_rate_,
                                            .step = cursor_.step + 1,
                                            .enter = enter_phase_,
                                            .skips_left = skips_left(),
                                            .skipped_before = own_skips_,
                                            .states_before = &states_before_},
                                           replica_);
  check_loss(result.outcome);
  note_skip(result);
  is_interrupted_ = false;
  count_own(result.is_skipped ? 0 : batch->size);
  const double work_waited = strategy_->leased()->waited_for_work();
  const double work_wait = work_waited - std::exchange(work_waited_, work_waited);
  anatomy_.end({.step = ++own_steps_,
                .epoch = batch->epoch,
                .samples = batch->size,
                .batch_wait = waited,
                .work_wait = work_wait,
                .stream = stream_->times(),
                .times = result.times});
  profiler_.end_step(
      {.samples = batch->size, .input_wait = std::max(0.0, waited - work_wait), .times = result.times, .ops = replica_.ops()});
}

// What workers have done since the last time, as the lead hears of it; the others learn it when all meet.
void Trainer::record_work(Observer& observer) {
  for (const ps::WorkDone& done : strategy_->leased()->done()) {
    const engine::Outcome outcome{.samples = done.samples, .correct = done.correct, .loss = done.loss, .penalty = done.penalty};
    const Seconds now = clock_.now();
    const double passed = (now - std::exchange(stretch_seconds_, now)).count();
    Skips skips;
    const bool is_skipped = note_skip(done, skips);
    ++cursor_.step;
    count(outcome, is_skipped);
    cursor_.epoch_seconds += passed;
    cursor_.train_seconds += passed;
    epoch_exposed_ += done.wait_seconds / team_.size();
    epoch_exchange_ += done.wait_seconds / team_.size();
    learning_rate_ = done.rate;
    StepRecord record = record_of(outcome, is_skipped);
    record.seconds = done.seconds;
    record.compute_seconds = done.compute_seconds;
    record.exposed_seconds = record.exchange_seconds = done.wait_seconds;
    record.skips = skips;
    record.worker = strategy_->leased()->rank_of(done.worker);
    record.staleness = done.staleness;
    observer.step(record);
  }
  if (const auto straggler = strategy_->leased()->straggler()) observer.straggler(*straggler);
}

Requests Trainer::meet(Observer& observer) {
  struct News {
    Cursor cursor;
    Requests asked;
    double learning_rate = 0;
  } news{.cursor = cursor_, .asked = std::exchange(asked_, {}), .learning_rate = learning_rate_};
  enter_phase_("meet");
  is_idle_ = false;
  if (comm::PeerWait* const waits = peer_wait()) waits->end();
  anatomy_.pause();
  stream_.reset();
  team_.broadcast(std::span(&news, 1), lead(), team_.patience());
  is_in_stretch_ = false;
  cursor_ = news.cursor;
  agreed_ = news.asked;
  learning_rate_ = news.learning_rate;
  if (cursor_.epoch_offset >= data_.train->size()) {
    if (const auto record = strategy_->leased()->server_record()) observer.server(*record);
    const EpochRecord record = finish_epoch();
    if (is_lead()) observer.epoch(record);
  }
  heed_the_plan();
  if (agreed_.stop || agreed_.regroup)
    come_to_rest();
  else if (agreed_.checkpoint)
    drain();
  return agreed_;
}

void Trainer::rebalance(Observer& observer) {
  enter_phase_("rebalance");
  anatomy_.pause();
  SpeedShares::Measured measured = speed_.measure(team_, shares_);
  if (measured.shares) take_shares(std::move(*measured.shares));
  if (const auto slow = links_.measure(team_)) observer.slow_link(*slow);
  if (!measured.straggler) return;
  if (measured.straggler->rank >= 0)
    measured.straggler->share =
        shares_[static_cast<std::size_t>(measured.straggler->rank)] / std::accumulate(shares_.begin(), shares_.end(), 0.0);
  observer.straggler(*measured.straggler);
}

void Trainer::begin_stream() {
  data::StreamOptions options = stream_options(job_, cursor_, shares_, team_.rank(), gives_up_);
  if (LeasedWork* const work = strategy_->leased()) {
    options.shares.clear();
    options.batch_size = work->lease_size();
    options.prefetch = 1;  // a lease that waits here can't be done by somebody who is faster
    options.places = [work] { return work->next(); };
    options.waits_on = [this](bool reads) { note_wait_for_batch(reads); };
  }
  stream_.emplace(data_.train, data::Transform(data_.train->format(), data_.normalization, job_.data.augment), options, clock_);
  times_at_epoch_ = {};
  anatomy_.begin_stream();
  work_waited_ = strategy_->leased() == nullptr ? 0 : strategy_->leased()->waited_for_work();
}

const data::Batch& Trainer::next_batch() {
  if (!stream_) begin_stream();
  const data::Batch* batch = stream_->next();
  ensure(batch != nullptr, "the stream has as many epochs as the job");
  return *batch;
}

StepRecord Trainer::step(const data::Batch& batch, Seconds asked, const Requests& requests) {
  const Seconds got = clock_.now();
  states_before_ = replica_.states();
  is_interrupted_ = true;
  handover_.is_clean = false;
  learning_rate_ = replica_.optimizer().learning_rate() * schedule_.factor(static_cast<double>(cursor_.samples_seen));
  const StepResult result = strategy_->run({.batch = batch,
                                            .learning_rate = learning_rate_,
                                            .step = cursor_.step + 1,
                                            .update = cursor_.step + 1 - cursor_.slots_from,
                                            .requests = requests,
                                            .statistics = statistics_for(batch),
                                            .enter = enter_phase_,
                                            .skips_left = skips_left(),
                                            .skipped_before = own_skips_,
                                            .states_before = &states_before_,
                                            .is_last = is_last(batch)},
                                           replica_);
  check_loss(result.outcome);
  note_skip(result);
  is_interrupted_ = false;
  agreed_ = result.requests;
  speed_.count(batch.size, result.times.compute());
  ++cursor_.step;
  own_steps_ = cursor_.step;
  last_batch_ = {.epoch = cursor_.epoch, .offset = cursor_.epoch_offset, .whole = batch.whole, .shares = shares_};
  count(result.outcome, result.is_skipped);
  if (!result.is_update) ++cursor_.slots_from;
  const Seconds done = clock_.now();
  cursor_.epoch_seconds += (done - asked).count();
  cursor_.train_seconds += (done - asked).count();
  epoch_exposed_ += result.times.exposed;
  epoch_exchange_ += result.times.exchange;
  links_.count((done - asked).count(), result.times.exposed);
  anatomy_.end({.step = cursor_.step,
                .epoch = cursor_.epoch,
                .samples = batch.size,
                .batch_wait = (got - asked).count(),
                .stream = stream_->times(),
                .times = result.times});
  profiler_.end_step({.samples = batch.size, .input_wait = (got - asked).count(), .times = result.times, .ops = replica_.ops()});
  StepRecord record = record_of(result.outcome, result.is_skipped);
  record.seconds = (done - asked).count();
  record.input_wait_seconds = (got - asked).count();
  record.compute_seconds = result.times.compute();
  record.exposed_seconds = result.times.exposed;
  record.exchange_seconds = result.times.exchange;
  record.optimizer_seconds = result.times.optimizer;
  record.noise_scale = result.noise_scale;
  record.skips = result.skips;
  return record;
}

// A batch of which a worker has nothing, the last one of an epoch, is left to each worker's own statistics.
engine::StatisticsExchange Trainer::statistics_for(const data::Batch& batch) {
  if (team_.is_alone() || !job_.strategy.team.sync_batch_norm || job_.graph.states().size() == 0) return {};
  for (int rank = 0; rank < team_.size(); ++rank)
    if (data::part_of(batch.whole, shares_, rank).size() == 0) return {};
  return {.samples = batch.whole, .sum = [this](std::span<double> values) { team_.sum(values); }};
}

// Of a step that was skipped nothing is known: it is taken to be as the epoch was so far.
StepRecord Trainer::record_of(const engine::Outcome& outcome, bool is_skipped) const {
  const Score mean = epoch_score(cursor_);
  const Score own{.samples = outcome.samples,
                  .loss = outcome.loss,
                  .accuracy = static_cast<double>(outcome.correct) / static_cast<double>(outcome.samples)};
  return {.step = cursor_.step,
          .epoch = cursor_.epoch,
          .samples_seen = cursor_.samples_seen,
          .samples_total = data_.train->size() * job_.train.epochs,
          .batch = is_skipped ? Score{.samples = outcome.samples, .loss = mean.loss, .accuracy = mean.accuracy} : own,
          .epoch_mean = mean,
          .learning_rate = learning_rate_,
          .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds),
          .workers = workers()};
}

EpochRecord Trainer::finish_epoch() {
  enter_phase_("evaluate");
  anatomy_.pause();
  const data::StreamTimes times = stream_ ? stream_->times() : times_at_epoch_;
  {
    const comm::PeerWait::Scope waits(peer_wait(), comm::PeerWait::kSomebody);
    strategy_->settle(replica_);
  }
  team_.average(replica_.states(), statistics_weight());
  own_samples_ = 0;
  EpochRecord record{.epoch = cursor_.epoch,
                     .train = epoch_score(cursor_),
                     .penalty = cursor_.penalty,
                     .learning_rate = learning_rate_,
                     .seconds = cursor_.epoch_seconds,
                     .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds),
                     .input_wait_seconds = times.wait_seconds - times_at_epoch_.wait_seconds,
                     .background_seconds = times.background_seconds - times_at_epoch_.background_seconds,
                     .exposed_seconds = std::exchange(epoch_exposed_, 0.0),
                     .exchange_seconds = std::exchange(epoch_exchange_, 0.0)};
  times_at_epoch_ = times;
  if (data_.validation != nullptr)
    record.validation = score(data_.validation);
  else if (data_.test != nullptr)
    record.test = score(data_.test);
  watch(record.validation);
  ++cursor_.epoch;
  cursor_.epoch_offset = 0;
  cursor_.correct = 0;
  cursor_.left_out = 0;
  cursor_.loss_sum = 0;
  cursor_.epoch_seconds = 0;
  return record;
}

void Trainer::watch(const Score& validation) {
  if (validation.samples == 0) return;
  // Both as something that should grow.
  const double value = job_.early_stopping.watch == "accuracy" ? validation.accuracy : -validation.loss;
  if (cursor_.best_epoch >= 0 && !(value > cursor_.best + job_.early_stopping.min_change)) return;
  cursor_.best = value;
  cursor_.best_epoch = cursor_.epoch;
}

// Each worker its part, the sums together.
Score Trainer::score(const std::shared_ptr<const data::Source>& samples) {
  const auto part = evaluation_part(samples, team_.rank(), shares_);
  Score own;
  if (part->size() > 0)
    own = evaluator_->score(part, data_.normalization, {.parameters = replica_.parameters(), .states = replica_.states()});
  if (team_.is_alone()) return own;
  const auto count = static_cast<double>(own.samples);
  std::array<double, 3> sums{count, own.loss * count, std::round(own.accuracy * count)};
  team_.sum(sums, team_.patience());
  return {.samples = std::llround(sums[0]), .loss = sums[1] / sums[0], .accuracy = sums[2] / sums[0]};
}

Score Trainer::test() {
  ensure(data_.test != nullptr, "a test needs test samples");
  return score(data_.test);
}

}  // namespace trireme::train
