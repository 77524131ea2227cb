// SPDX-License-Identifier: Apache-2.0
// The training loop, the same alone and in a team.
#include "trireme/train/trainer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/data/division.h"
#include "trireme/data/subset.h"
#include "trireme/train/strategy_entry.h"

namespace trireme::train {
namespace {

std::uint64_t seed_of(const Job& job) { return static_cast<std::uint64_t>(job.train.seed); }

// The most samples this worker can get of a batch: the last one of an epoch is divided anew.
std::int64_t capacity(std::int64_t batch_size, std::int64_t samples, const std::vector<double>& shares, int rank) {
  batch_size = std::min(batch_size, samples);
  const std::int64_t full = data::part_of(batch_size, shares, rank).size();
  return std::max(full, data::part_of(samples % batch_size, shares, rank).size());
}

// Samples of `source` that worker `rank` of `size` evaluates.
std::shared_ptr<const data::Source> evaluation_part(const std::shared_ptr<const data::Source>& source, int rank, int size) {
  if (size == 1) return source;
  const data::Range part = data::part_of(source->size(), std::vector<double>(static_cast<std::size_t>(size), 1.0), rank);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(part.size()));
  std::iota(indices.begin(), indices.end(), part.begin);
  return std::make_shared<data::Subset>(source, std::move(indices));
}

optim::ScheduleSpan schedule_span(const Trainer::Setup& setup) {
  return {.samples_per_epoch = setup.data.train->size(),
          .epochs = static_cast<double>(setup.job.train.epochs),
          .batch_size = setup.job.train.batch_size};
}

data::StreamOptions stream_options(const Job& job, const Cursor& cursor, std::vector<double> shares, int rank) {
  const data::PipelineOptions& pipeline = job.data.pipeline;
  return {.batch_size = job.train.batch_size,
          .seed = seed_of(job),
          .shuffle = pipeline.shuffle,
          .interleave = pipeline.interleave,
          .threads = pipeline.threads,
          .prefetch = pipeline.prefetch,
          .epochs = job.train.epochs,
          .first_epoch = cursor.epoch,
          .first_offset = cursor.epoch_offset,
          .shares = std::move(shares),
          .rank = rank};
}

double per_second(double amount, double seconds) { return amount / std::max(seconds, 1e-9); }

// Means over the epoch so far.
Score epoch_score(const Cursor& cursor) {
  const double samples = std::max<double>(1, static_cast<double>(cursor.epoch_offset));
  return {.samples = cursor.epoch_offset, .loss = cursor.loss_sum / samples, .accuracy = static_cast<double>(cursor.correct) / samples};
}

}  // namespace

Trainer::Trainer(const Setup& setup, const std::filesystem::path& algorithm_cache)
    : job_((check_fit(setup.job.graph, setup.data.train->format(), setup.job.data.title()), setup.job)),
      data_(setup.data),
      clock_(setup.clock),
      at_(setup.at),
      enter_phase_([this](std::string_view phase) {
        if (at_) at_(cursor_.step + 1, phase);
      }),
      replica_(job_, algorithm_cache),
      algorithm_cache_(algorithm_cache),
      schedule_(job_.schedule, schedule_span(setup)),
      team_(Team::alone()),
      speed_(job_.train.batch_size, shares_rule(job_.strategy.team.shares)) {
  if (!setup.team_follows) enter(Team::alone());
}

void Trainer::prepare(int rank, int size) { compile(std::vector<double>(static_cast<std::size_t>(size), 1.0), rank); }

void Trainer::compile(const std::vector<double>& shares, int rank) {
  replica_.compile(capacity(job_.train.batch_size, data_.train->size(), shares, rank));
  if (evaluator_) return;
  evaluator_.emplace(
      job_.graph,
      Evaluator::Options{
          .batch_size = job_.train.batch_size, .threads = static_cast<int>(job_.train.threads), .algorithm_cache = algorithm_cache_},
      clock_);
}

int Trainer::enter(Team team, const Committed& committed) {
  abandon();
  team_ = std::move(team);
  speed_ = SpeedShares(job_.train.batch_size, shares_rule(job_.strategy.team.shares));
  take_shares(std::vector<double>(static_cast<std::size_t>(team_.size()), 1.0));
  const StrategyEntry::Setup setup{
      .team = team_, .space = replica_.space(), .clock = clock_, .sync_batch_norm = job_.strategy.team.sync_batch_norm};
  strategy_ =
      team_.is_alone() ? find_strategy("local").make(setup, {}) : find_strategy(job_.strategy.name).make(setup, job_.strategy.options);
  const Origin origin = find_origin(committed);
  synchronize(origin);
  lineage_ = static_cast<std::int64_t>(team_.generation());
  return origin.root;
}

void Trainer::abandon() {
  strategy_.reset();  // it works with the team
  stream_.reset();
  team_ = Team::alone();
  if (std::exchange(is_interrupted_, false)) replica_.states() = states_before_;
}

void Trainer::take_shares(std::vector<double> shares) {
  shares_ = std::move(shares);
  compile(shares_, team_.rank());
  stream_.reset();
}

Position Trainer::position() const {
  if (lineage_ < 0) return {};
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
  if (team_.rank() == 0 && committed) {
    if (auto checkpoint = committed(furthest)) {
      restore(std::move(*checkpoint));
      origin = {.root = 0, .averages_statistics = false};
    }
  }
  team_.broadcast(std::span(&origin, 1), 0);
  origin.weight = position() == furthest ? 1 : 0;
  return origin;
}

void Trainer::synchronize(const Origin& origin) {
  if (team_.is_alone()) return;
  team_.broadcast(std::span(&cursor_, 1), origin.root);
  team_.broadcast(std::span(replica_.parameters()), origin.root);
  for (std::vector<float>& slot : replica_.slots()) team_.broadcast(std::span(slot), origin.root);
  // Each worker has its own statistics until the end of an epoch; those of all who came as far count.
  if (origin.averages_statistics)
    team_.average(replica_.states(), origin.weight);
  else
    team_.broadcast(std::span(replica_.states()), origin.root);
}

Checkpoint Trainer::checkpoint() {
  strategy_->drain(replica_);
  Checkpoint out{.cursor = cursor_,
                 .generation = static_cast<std::int64_t>(team_.generation()),
                 .parameters = replica_.parameters(),
                 .states = replica_.states(),
                 .slots = replica_.slots()};
  // A copy: when checkpoints are made must not change what is trained.
  team_.average(out.states, shares_[static_cast<std::size_t>(team_.rank())]);
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
                "the checkpoint stands after {} samples of an epoch, but there are only {} training samples; leave the data as they were",
                cursor.epoch_offset, data_.train->size()};
  ensure(checkpoint.parameters.size() == replica_.parameters().size() && checkpoint.states.size() == replica_.states().size(),
         "a checkpoint of this model");
  cursor_ = checkpoint.cursor;
  replica_.parameters() = std::move(checkpoint.parameters);
  replica_.states() = std::move(checkpoint.states);
  replica_.slots() = std::move(checkpoint.slots);
  lineage_ = checkpoint.generation;
  stream_.reset();
}

bool Trainer::stopped_early() const {
  const std::int64_t patience = job_.early_stopping.patience;
  return patience > 0 && cursor_.epoch_offset == 0 && cursor_.best_epoch >= 0 && cursor_.epoch - 1 - cursor_.best_epoch >= patience;
}

bool Trainer::finished() const { return cursor_.epoch >= job_.train.epochs || stopped_early(); }

Requests Trainer::advance(Observer& observer, const Requests& requests) {
  ensure(!finished(), "a finished training does not advance");
  const ThreadScope threads(compile_report().threads);
  // Not so if a team broke while it evaluated.
  if (cursor_.epoch_offset < data_.train->size()) {
    enter_phase_("wait");
    const Seconds asked = clock_.now();
    const data::Batch& batch = next_batch();
    observer.step(step(batch, asked, requests));
  }
  if (cursor_.epoch_offset >= data_.train->size()) observer.epoch(finish_epoch());
  if (!team_.is_alone() && speed_.is_due()) rebalance(observer);
  return agreed_;
}

void Trainer::rebalance(Observer& observer) {
  enter_phase_("rebalance");
  SpeedShares::Measured measured = speed_.measure(team_, shares_);
  if (measured.shares) take_shares(std::move(*measured.shares));
  if (!measured.straggler) return;
  measured.straggler->share =
      shares_[static_cast<std::size_t>(measured.straggler->rank)] / std::accumulate(shares_.begin(), shares_.end(), 0.0);
  observer.straggler(*measured.straggler);
}

const data::Batch& Trainer::next_batch() {
  if (!stream_) {
    stream_.emplace(data_.train, data::Transform(data_.train->format(), data_.normalization, job_.data.augment),
                    stream_options(job_, cursor_, shares_, team_.rank()), clock_);
    times_at_epoch_ = {};
  }
  const data::Batch* batch = stream_->next();
  ensure(batch != nullptr, "the stream has as many epochs as the job");
  return *batch;
}

StepRecord Trainer::step(const data::Batch& batch, Seconds asked, const Requests& requests) {
  const Seconds got = clock_.now();
  states_before_ = replica_.states();
  is_interrupted_ = true;
  learning_rate_ = replica_.optimizer().learning_rate() * schedule_.factor(static_cast<double>(cursor_.samples_seen));
  const StepResult result = strategy_->run({.batch = batch,
                                            .learning_rate = learning_rate_,
                                            .step = cursor_.step + 1,
                                            .requests = requests,
                                            .statistics = statistics_for(batch),
                                            .enter = enter_phase_},
                                           replica_);
  if (!std::isfinite(result.outcome.loss))
    throw Error{aborted, "step {}: the loss is {}; lower train.optimizer.learning_rate ({:g} now)", cursor_.step + 1, result.outcome.loss,
                learning_rate_};
  is_interrupted_ = false;
  agreed_ = result.requests;
  speed_.count(batch.size, result.times.compute);
  ++cursor_.step;
  last_batch_ = {.epoch = cursor_.epoch, .offset = cursor_.epoch_offset, .whole = batch.whole, .shares = shares_};
  count(result.outcome);
  const Seconds done = clock_.now();
  cursor_.epoch_seconds += (done - asked).count();
  cursor_.train_seconds += (done - asked).count();
  epoch_exchange_ += result.times.exchange;
  epoch_hidden_ += result.times.hidden;
  StepRecord record = record_of(result.outcome);
  record.seconds = (done - asked).count();
  record.wait_seconds = (got - asked).count();
  record.compute_seconds = result.times.compute;
  record.exchange_seconds = result.times.exchange;
  record.hidden_seconds = result.times.hidden;
  record.optimizer_seconds = result.times.optimizer;
  return record;
}

// A batch of which a worker has nothing, the last one of an epoch, is left to each worker's own statistics.
engine::StatisticsExchange Trainer::statistics_for(const data::Batch& batch) {
  if (team_.is_alone() || !job_.strategy.team.sync_batch_norm || job_.graph.states().size() == 0) return {};
  for (int rank = 0; rank < team_.size(); ++rank)
    if (data::part_of(batch.whole, shares_, rank).size() == 0) return {};
  return {.samples = batch.whole, .sum = [this](std::span<double> values) { team_.sum(values); }};
}

void Trainer::count(const engine::Outcome& outcome) {
  cursor_.samples_seen += outcome.samples;
  cursor_.epoch_offset += outcome.samples;
  cursor_.correct += outcome.correct;
  cursor_.loss_sum += outcome.loss * static_cast<double>(outcome.samples);
  cursor_.penalty = outcome.penalty;
}

StepRecord Trainer::record_of(const engine::Outcome& outcome) const {
  return {.step = cursor_.step,
          .epoch = cursor_.epoch,
          .samples_seen = cursor_.samples_seen,
          .samples_total = data_.train->size() * job_.train.epochs,
          .batch = {.samples = outcome.samples,
                    .loss = outcome.loss,
                    .accuracy = static_cast<double>(outcome.correct) / static_cast<double>(outcome.samples)},
          .epoch_mean = epoch_score(cursor_),
          .learning_rate = learning_rate_,
          .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds),
          .workers = team_.size()};
}

EpochRecord Trainer::finish_epoch() {
  enter_phase_("evaluate");
  const data::StreamTimes times = stream_ ? stream_->times() : times_at_epoch_;
  strategy_->drain(replica_);
  team_.average(replica_.states(), shares_[static_cast<std::size_t>(team_.rank())]);
  EpochRecord record{.epoch = cursor_.epoch,
                     .train = epoch_score(cursor_),
                     .penalty = cursor_.penalty,
                     .learning_rate = learning_rate_,
                     .seconds = cursor_.epoch_seconds,
                     .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds),
                     .wait_seconds = times.wait_seconds - times_at_epoch_.wait_seconds,
                     .background_seconds = times.background_seconds - times_at_epoch_.background_seconds,
                     .exchange_seconds = std::exchange(epoch_exchange_, 0.0),
                     .hidden_seconds = std::exchange(epoch_hidden_, 0.0)};
  times_at_epoch_ = times;
  if (data_.validation != nullptr)
    record.validation = score(data_.validation);
  else if (data_.test != nullptr)
    record.test = score(data_.test);
  watch(record.validation);
  ++cursor_.epoch;
  cursor_.epoch_offset = 0;
  cursor_.correct = 0;
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
  const auto part = evaluation_part(samples, team_.rank(), team_.size());
  Score own;
  if (part->size() > 0)
    own = evaluator_->score(part, data_.normalization, {.parameters = replica_.parameters(), .states = replica_.states()});
  if (team_.is_alone()) return own;
  const auto count = static_cast<double>(own.samples);
  std::array<double, 3> sums{count, own.loss * count, std::round(own.accuracy * count)};
  team_.sum(sums);
  return {.samples = std::llround(sums[0]), .loss = sums[1] / sums[0], .accuracy = sums[2] / sums[0]};
}

Score Trainer::test() {
  ensure(data_.test != nullptr, "a test needs test samples");
  return score(data_.test);
}

}  // namespace trireme::train
