// SPDX-License-Identifier: Apache-2.0
// Measurements of an epoch, and what follows from them.
#include "trireme/train/conductor/switch_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trireme::train {
namespace {

// Of two in the middle the faster one: a switch has to beat it.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string fall(double progress) { return fmt::format("{} by {:.1f} %", progress < 0 ? "rose" : "fell", 100 * std::abs(progress)); }

std::string_view name_of(SwitchPolicy::Decision decision) {
  if (decision == SwitchPolicy::Decision::stay) return "stay";
  return decision == SwitchPolicy::Decision::go ? "go" : "go back";
}

}  // namespace

void SwitchPolicy::on_begin(Part part) {
  if (part == part_) return;
  if (part == Part::second)
    has_gone_ = true;
  else
    has_come_back_ = true;
  part_ = part;
  begin_ = now_;
  exposed_seconds_ = step_seconds_ = 0;
  straggler_.reset();
  worse_ = 0;
}

void SwitchPolicy::on_step(const StepRecord& record) {
  exposed_seconds_ += record.exposed_seconds;
  step_seconds_ += record.seconds;
  if (record.noise_scale != 0) noise_scale_ = record.noise_scale;
  const auto samples = static_cast<double>(record.epoch_mean.samples);
  now_ = {.samples = samples, .seconds = samples / std::max(record.samples_per_second, 1e-9)};
}

void SwitchPolicy::on_straggler(const StragglerRecord& record) {
  straggler_ = record.rank < 0 ? std::nullopt : std::optional<StragglerRecord>(record);
}

SwitchPolicy::Verdict SwitchPolicy::judge(const EpochRecord& record) {
  Verdict verdict{.part = part_, .epoch = record.epoch, .batch_size = batch_size_};
  measure(record, verdict);
  if (record.epoch + 1 >= epochs_)
    verdict.reason = "the training is over";
  else if (part_ == Part::second)
    judge_return(verdict);
  else
    judge_going(verdict);
  begin_ = now_ = {};
  exposed_seconds_ = step_seconds_ = 0;
  return verdict;
}

void SwitchPolicy::measure(const EpochRecord& record, Verdict& verdict) {
  // The worker that reports would not wait if it is the slow one itself.
  const bool reports_itself = straggler_ && straggler_->rank == 0 && part_ == Part::first;
  if (step_seconds_ > 0 && !reports_itself) verdict.wait_share = exposed_seconds_ / step_seconds_;
  if (straggler_) verdict.slowness = straggler_->slowness;
  verdict.noise_scale = noise_scale_;
  verdict.loss = record.validation.samples > 0 ? record.validation.loss : record.train.loss;
  if (last_loss_ && *last_loss_ != 0) {
    verdict.progress = (*last_loss_ - *verdict.loss) / std::abs(*last_loss_);
    worse_ = *verdict.progress < 0 ? worse_ + 1 : 0;
  }
  last_loss_ = verdict.loss;
  if (const auto speed = speed_of(record); speed && !has_come_back_) (part_ == Part::first ? before_ : after_).push_back(*speed);
  if (!before_.empty()) verdict.samples_per_second_before = median(before_);
  if (!after_.empty()) verdict.samples_per_second = *std::ranges::max_element(after_);
}

// Of what this part has done of the epoch, if that is enough to know.
std::optional<double> SwitchPolicy::speed_of(const EpochRecord& record) const {
  const auto whole = static_cast<double>(record.train.samples);
  const double samples = whole - begin_.samples;
  const double seconds = record.seconds - begin_.seconds;
  if (samples < kLongEnough * whole || !(seconds > 0)) return std::nullopt;
  return samples / seconds;
}

void SwitchPolicy::judge_going(Verdict& verdict) const {
  if (has_gone_) {
    verdict.reason = "it went once and came back; that is enough";
    return;
  }
  std::vector<std::string> against;
  std::vector<std::string> in_favour;
  const auto weigh = [&](bool favours, std::string text) { (favours ? in_favour : against).push_back(std::move(text)); };
  if (!verdict.wait_share)
    against.emplace_back(straggler_ ? "the wait share is not known, since the worker that reports is the slow one"
                                    : "no step was measured");
  else
    weigh(*verdict.wait_share > kWait, fmt::format("workers wait {} of the time (limit {})", percent(*verdict.wait_share), percent(kWait)));
  if (!verdict.noise_scale)
    against.emplace_back("the noise scale is not measured yet");
  else
    weigh(*verdict.noise_scale > static_cast<double>(batch_size_),
          fmt::format("the noise scale is {:.4g} (batch size {})", *verdict.noise_scale, batch_size_));
  if (!verdict.progress)
    against.emplace_back("there is no epoch before to compare the loss with");
  else
    weigh(*verdict.progress < kProgress, fmt::format("the loss {} (limit {})", fall(*verdict.progress), percent(kProgress)));
  verdict.decision = against.empty() ? Decision::go : Decision::stay;
  verdict.reason = fmt::format("{}", fmt::join(against.empty() ? in_favour : against, "; "));
}

void SwitchPolicy::judge_return(Verdict& verdict) const {
  if (has_come_back_) {
    verdict.reason = "it was sent here after it had come back; that is left alone";
    return;
  }
  if (worse_ >= kWorse) {
    verdict.decision = Decision::go_back;
    verdict.reason = fmt::format("the loss rose {} epochs in a row", worse_);
    return;
  }
  if (!verdict.samples_per_second || !verdict.samples_per_second_before) {
    verdict.reason =
        verdict.samples_per_second ? "the speed before the switch is not known" : "no epoch since the switch is long enough to measure";
    return;
  }
  const bool pays = *verdict.samples_per_second > *verdict.samples_per_second_before;
  verdict.decision = pays ? Decision::stay : Decision::go_back;
  verdict.reason = fmt::format("{}: {:.0f} samples/s, before the switch {:.0f}", pays ? "it pays" : "it did not pay",
                               *verdict.samples_per_second, *verdict.samples_per_second_before);
}

observe::Fields fields_of(const SwitchPolicy::Verdict& verdict) {
  const auto number = [](const std::optional<double>& value) { return value.value_or(std::numeric_limits<double>::quiet_NaN()); };
  return {{"epoch", verdict.epoch + 1},
          {"decision", std::string(name_of(verdict.decision))},
          {"reason", verdict.reason},
          {"switched", verdict.part == SwitchPolicy::Part::second},
          {"wait_share", number(verdict.wait_share)},
          {"noise_scale", number(verdict.noise_scale)},
          {"batch_size", verdict.batch_size},
          {"loss", number(verdict.loss)},
          {"progress", number(verdict.progress)},
          {"samples_per_second", number(verdict.samples_per_second)},
          {"samples_per_second_before", number(verdict.samples_per_second_before)},
          {"slowness", number(verdict.slowness)}};
}

}  // namespace trireme::train
