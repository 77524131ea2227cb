// SPDX-License-Identifier: Apache-2.0
// What of a step counts: its samples always, its outcome unless it was skipped.
#include <algorithm>
#include <cmath>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/team/leased_work.h"
#include "trireme/train/team/non_finite.h"

namespace trireme::train {

void Trainer::check_loss(const engine::Outcome& outcome) const {
  if (std::isfinite(outcome.loss)) return;
  throw Error{aborted, "step {}: the loss is {}; lower train.optimizer.learning_rate ({:g} now)", cursor_.step + 1, outcome.loss,
              learning_rate_};
}

void Trainer::count(const engine::Outcome& outcome, bool is_skipped) {
  cursor_.samples_seen += outcome.samples;
  cursor_.epoch_offset += outcome.samples;
  if (is_skipped) cursor_.left_out += outcome.samples;
  if (is_skipped) return;
  cursor_.correct += outcome.correct;
  cursor_.loss_sum += outcome.loss * static_cast<double>(outcome.samples);
  cursor_.penalty = outcome.penalty;
}

std::int64_t Trainer::skips_left() const noexcept {
  return job_.train.on_non_finite == "skip" ? std::max<std::int64_t>(0, job_.train.max_skipped_steps - own_skips_) : 0;
}

bool Trainer::is_last(const data::Batch& batch) const noexcept {
  return cursor_.epoch_offset + batch.whole >= data_.train->size() || cursor_.samples_seen + batch.whole >= stop_at_;
}

// Forward has changed statistics; all else is as it was.
void Trainer::note_skip(const StepResult& result) {
  own_skips_ = result.is_skipped ? own_skips_ + 1 : 0;
  if (result.is_skipped) replica_.states() = states_before_;
}

// By lease: a step that this worker has done may turn out to be skipped when the next one has begun.
void Trainer::count_own(std::int64_t samples) { own_samples_ += static_cast<double>(samples - strategy_->leased()->take_unused()); }

// At the lead: workers one after the other may each skip less than the limit, and yet nothing is trained. Of an update that was made
// without some workers' parts (backup workers) only these are counted.
bool Trainer::note_skip(const ps::WorkDone& done, Skips& skips) {
  const bool is_skipped = !done.faulty.empty() && (done.lease.round >= 0 || !done.worker.empty());
  for (const std::string& node : done.faulty) skips.ranks.push_back(strategy_->leased()->rank_of(node));
  skips.steps = is_skipped ? 1 : static_cast<std::int64_t>(done.faulty.size());
  skips_ = is_skipped ? skips_ + 1 : 0;
  if (skips_ > job_.train.max_skipped_steps)
    throw_non_finite({.step = cursor_.step + 1,
                      .loss = std::numeric_limits<double>::quiet_NaN(),
                      .ranks = skips.ranks,
                      .learning_rate = done.rate,
                      .skipped_before = skips_ - 1});
  if (is_skipped) ++cursor_.slots_from;
  return is_skipped;
}

}  // namespace trireme::train
