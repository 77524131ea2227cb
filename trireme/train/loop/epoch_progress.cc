// SPDX-License-Identifier: Apache-2.0
// Sums over an epoch's steps, and early stopping.
#include "trireme/train/loop/epoch_progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trireme::train {
namespace {

double per_second(double amount, double seconds) { return amount / std::max(seconds, 1e-9); }

// Means over the epoch so far.
Score epoch_score(const Cursor& cursor) {
  const double samples = std::max<double>(1, static_cast<double>(cursor.epoch_offset - cursor.left_out));
  return {.samples = cursor.epoch_offset, .loss = cursor.loss_sum / samples, .accuracy = static_cast<double>(cursor.correct) / samples};
}

}  // namespace

bool EpochProgress::stopped_early() const {
  const std::int64_t patience = job_.early_stopping.patience;
  return patience > 0 && cursor_.epoch_offset == 0 && cursor_.best_epoch >= 0 && cursor_.epoch - 1 - cursor_.best_epoch >= patience;
}

std::optional<Ending> EpochProgress::finished() const {
  if (stopped_early()) return Ending::stopped_early;
  if (cursor_.epoch >= job_.train.epochs) return Ending::completed;
  return std::nullopt;
}

void EpochProgress::count(const Step& step) {
  const engine::Outcome& outcome = step.outcome;
  ++cursor_.step;
  cursor_.samples_seen += outcome.samples;
  cursor_.epoch_offset += outcome.samples;
  cursor_.epoch_seconds += step.seconds;
  cursor_.train_seconds += step.seconds;
  exposed_seconds_ += step.exposed_seconds;
  exchange_seconds_ += step.exchange_seconds;
  if (step.is_skipped) {
    cursor_.left_out += outcome.samples;
    return;
  }
  cursor_.correct += outcome.correct;
  cursor_.loss_sum += outcome.loss * static_cast<double>(outcome.samples);
  cursor_.penalty = outcome.penalty;
}

// Of a step that was skipped nothing is known: it is taken to be as the epoch was so far.
StepRecord EpochProgress::step_record(const Step& step, double learning_rate, std::int64_t workers) const {
  const engine::Outcome& outcome = step.outcome;
  const Score mean = epoch_score(cursor_);
  const Score own{.samples = outcome.samples,
                  .loss = outcome.loss,
                  .accuracy = static_cast<double>(outcome.correct) / static_cast<double>(outcome.samples)};
  return {.step = cursor_.step,
          .epoch = cursor_.epoch,
          .samples_seen = cursor_.samples_seen,
          .samples_total = samples_ * job_.train.epochs,
          .batch = step.is_skipped ? Score{.samples = outcome.samples, .loss = mean.loss, .accuracy = mean.accuracy} : own,
          .epoch_mean = mean,
          .learning_rate = learning_rate,
          .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds),
          .workers = workers};
}

EpochRecord EpochProgress::epoch_record(const data::StreamTimes& times, double learning_rate) {
  return {.epoch = cursor_.epoch,
          .train = epoch_score(cursor_),
          .penalty = cursor_.penalty,
          .learning_rate = learning_rate,
          .seconds = cursor_.epoch_seconds,
          .samples_per_second = per_second(static_cast<double>(cursor_.epoch_offset), cursor_.epoch_seconds),
          .input_wait_seconds = times.wait_seconds,
          .background_seconds = times.background_seconds,
          .exposed_seconds = std::exchange(exposed_seconds_, 0.0),
          .exchange_seconds = std::exchange(exchange_seconds_, 0.0)};
}

bool EpochProgress::begin_next_epoch(const Score& evaluation) {
  const bool is_best = watch(evaluation);
  ++cursor_.epoch;
  cursor_.epoch_offset = 0;
  cursor_.correct = 0;
  cursor_.left_out = 0;
  cursor_.loss_sum = 0;
  cursor_.epoch_seconds = 0;
  return is_best;
}

bool EpochProgress::watch(const Score& evaluation) {
  if (evaluation.samples == 0) return false;
  // Both as something that should grow.
  const bool by_accuracy = job_.early_stopping.watch == "accuracy";
  const double value = by_accuracy ? evaluation.accuracy : -evaluation.loss;
  if (!std::isfinite(value)) return false;  // nothing would ever be better than a NaN
  // What is watched may be changed when a run is continued: an accuracy is never below 0, the other never above.
  const bool is_comparable = cursor_.best_epoch >= 0 && (by_accuracy ? cursor_.best >= 0 : cursor_.best <= 0);
  if (is_comparable && !(value > cursor_.best + job_.early_stopping.min_change)) return false;
  cursor_.best = value;
  cursor_.best_epoch = cursor_.epoch;
  return true;
}

}  // namespace trireme::train
