// SPDX-License-Identifier: Apache-2.0
// The local training loop.
#include "trireme/train/trainer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"

namespace trireme::train {
namespace {

std::uint64_t seed_of(const Job& job) { return static_cast<std::uint64_t>(job.train.seed); }

engine::ExecutorOptions executor_options(const Trainer::Setup& setup, const std::filesystem::path& algorithm_cache) {
  const Job& job = setup.job;
  check_fit(job.graph, setup.data.train->format(), job.data.title());
  return {.batch_size = std::min(job.train.batch_size, setup.data.train->size()),
          .mode = engine::Mode::train,
          .threads = static_cast<int>(job.train.threads),
          .algorithm_cache = algorithm_cache};
}

optim::ScheduleSpan schedule_span(const Trainer::Setup& setup) {
  return {.samples_per_epoch = setup.data.train->size(),
          .epochs = static_cast<double>(setup.job.train.epochs),
          .batch_size = setup.job.train.batch_size};
}

data::StreamOptions stream_options(const Job& job, const Cursor& cursor) {
  const data::PipelineOptions& pipeline = job.data.pipeline;
  return {.batch_size = job.train.batch_size,
          .seed = seed_of(job),
          .shuffle = pipeline.shuffle,
          .interleave = pipeline.interleave,
          .threads = pipeline.threads,
          .prefetch = pipeline.prefetch,
          .epochs = job.train.epochs,
          .first_epoch = cursor.epoch,
          .first_offset = cursor.epoch_offset};
}

double per_second(double amount, double seconds) { return amount / std::max(seconds, 1e-9); }

// Means over the epoch so far.
Score epoch_score(const Cursor& cursor) {
  const double samples = std::max<double>(1, static_cast<double>(cursor.epoch_offset));
  return {.samples = cursor.epoch_offset, .loss = cursor.loss_sum / samples, .accuracy = static_cast<double>(cursor.correct) / samples};
}

}  // namespace

Trainer::Trainer(const Setup& setup, const std::filesystem::path& algorithm_cache)
    : job_(setup.job),
      data_(setup.data),
      clock_(setup.clock),
      executor_(job_.graph, executor_options(setup, algorithm_cache)),
      evaluator_(job_.graph,
                 {.batch_size = job_.train.batch_size, .threads = static_cast<int>(job_.train.threads), .algorithm_cache = algorithm_cache},
                 clock_),
      optimizer_(optim::Optimizer::from_config(job_.optimizer, job_.graph.parameters())),
      schedule_(job_.schedule, schedule_span(setup)),
      parameters_(static_cast<std::size_t>(job_.graph.parameters().size())),
      gradients_(parameters_.size()),
      states_(static_cast<std::size_t>(job_.graph.states().size())),
      slots_(optimizer_.slots().size(), std::vector<float>(parameters_.size())) {
  job_.graph.initialize_parameters(parameters_, seed_of(job_));
  job_.graph.initialize_states(states_);
}

Checkpoint Trainer::checkpoint() const {
  Checkpoint out{.cursor = cursor_, .parameters = parameters_, .states = states_, .slots = slots_};
  for (const std::string_view name : optimizer_.slots()) out.slot_names.emplace_back(name);
  out.normalization = data_.normalization;
  out.class_names = data_.class_names;
  return out;
}

void Trainer::restore(Checkpoint checkpoint) {
  const auto names = optimizer_.slots();
  if (!std::ranges::equal(names, checkpoint.slot_names))
    throw Error{failed_precondition, "the checkpoint was made with another optimizer: its slots are [{}], those of '{}' are [{}]",
                fmt::join(checkpoint.slot_names, ", "), optimizer_.entry().name, fmt::join(names, ", ")};
  const Cursor& cursor = checkpoint.cursor;
  if (cursor.epoch_offset % job_.train.batch_size != 0 || cursor.epoch_offset >= data_.train->size())
    throw Error{failed_precondition,
                "the checkpoint stands after {} samples of an epoch, which does not fit batches of {} and {} training samples; "
                "leave train.batch_size and the data as they were",
                cursor.epoch_offset, job_.train.batch_size, data_.train->size()};
  ensure(checkpoint.parameters.size() == parameters_.size() && checkpoint.states.size() == states_.size(), "a checkpoint of this model");
  cursor_ = checkpoint.cursor;
  parameters_ = std::move(checkpoint.parameters);
  states_ = std::move(checkpoint.states);
  slots_ = std::move(checkpoint.slots);
  stream_.reset();
}

bool Trainer::stopped_early() const {
  const std::int64_t patience = job_.early_stopping.patience;
  return patience > 0 && cursor_.epoch_offset == 0 && cursor_.best_epoch >= 0 && cursor_.epoch - 1 - cursor_.best_epoch >= patience;
}

bool Trainer::finished() const { return cursor_.epoch >= job_.train.epochs || stopped_early(); }

void Trainer::advance(Observer& observer) {
  ensure(!finished(), "a finished training does not advance");
  const ThreadScope threads(executor_.report().threads);
  const Seconds asked = clock_.now();
  const data::Batch& batch = next_batch();
  observer.step(step(batch, asked));
  if (batch.last_of_epoch) observer.epoch(finish_epoch());
}

const data::Batch& Trainer::next_batch() {
  if (!stream_) {
    stream_.emplace(data_.train, data::Transform(data_.train->format(), data_.normalization, job_.data.augment),
                    stream_options(job_, cursor_), clock_);
    times_at_epoch_ = {};
  }
  const data::Batch* batch = stream_->next();
  ensure(batch != nullptr, "the stream has as many epochs as the job");
  return *batch;
}

StepRecord Trainer::step(const data::Batch& batch, Seconds asked) {
  const Seconds got = clock_.now();
  const engine::Outcome outcome = executor_.train_step(view_of(batch), model());
  const Seconds computed = clock_.now();
  if (!std::isfinite(outcome.loss))
    throw Error{aborted, "step {}: the loss is {}; lower train.optimizer.learning_rate ({:g} in the step before)", cursor_.step + 1,
                outcome.loss, learning_rate_};
  update();
  count(outcome);
  const Seconds done = clock_.now();
  cursor_.epoch_seconds += (done - asked).count();
  cursor_.train_seconds += (done - asked).count();
  StepRecord record = record_of(outcome);
  record.seconds = (done - asked).count();
  record.wait_seconds = (got - asked).count();
  record.compute_seconds = (computed - got).count();
  record.optimizer_seconds = (done - computed).count();
  return record;
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
          .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds)};
}

void Trainer::update() {
  learning_rate_ = optimizer_.learning_rate() * schedule_.factor(static_cast<double>(cursor_.samples_seen));
  optim::UpdateSpan span{.parameters = parameters_, .gradients = gradients_, .learning_rate = learning_rate_, .step = ++cursor_.step};
  std::copy(slots_.begin(), slots_.end(), span.slots.begin());
  optimizer_.update(0, span);
}

EpochRecord Trainer::finish_epoch() {
  const data::StreamTimes times = stream_->times();
  EpochRecord record{.epoch = cursor_.epoch,
                     .train = epoch_score(cursor_),
                     .penalty = cursor_.penalty,
                     .learning_rate = learning_rate_,
                     .seconds = cursor_.epoch_seconds,
                     .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds),
                     .wait_seconds = times.wait_seconds - times_at_epoch_.wait_seconds,
                     .background_seconds = times.background_seconds - times_at_epoch_.background_seconds};
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

Score Trainer::score(const std::shared_ptr<const data::Source>& samples) {
  return evaluator_.score(samples, data_.normalization, {.parameters = parameters_, .states = states_});
}

Score Trainer::test() {
  ensure(data_.test != nullptr, "a test needs test samples");
  return score(data_.test);
}

}  // namespace trireme::train
