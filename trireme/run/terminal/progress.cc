// SPDX-License-Identifier: Apache-2.0
// Prints the progress line of a training, and its epochs.
#include "trireme/run/terminal/progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace trireme::run {
namespace {

constexpr Seconds kPause{0.1};   // between two rewrites of the line
constexpr Seconds kSilence{30};  // without a terminal: a long epoch says now and then that it lives

std::string duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string Progress::score(std::string_view prefix, const train::Score& score, double penalty) const {
  if (score.samples == 0) return "";
  std::string text = fmt::format("  {}loss {:.4f}", prefix, score.loss);
  if (penalty > 0) text += fmt::format(" + {:.4f}", penalty);
  if (settings_.classes) text += fmt::format("  {}accuracy {:.2f} %", prefix, 100 * score.accuracy);
  return text;
}

// Whatever else is shown: it must not be overlooked.
void Progress::show_skips(const train::StepRecord& record) {
  const std::string ranks = fmt::format("{}", fmt::join(record.skips.ranks, ", "));
  out_ << (settings_.terminal ? "\r\033[K" : "")
       << fmt::format("step {} skipped{}: {} not finite; no weight was changed by it (train.on_non_finite)", record.step,
                      record.skips.steps > 1 ? fmt::format(" ({} steps of single workers)", record.skips.steps) : "",
                      ranks.empty() ? "the sum of all gradients is" : fmt::format("loss or gradients of rank {} are", ranks))
       << std::endl;
}

void Progress::step(const train::StepRecord& record) {
  if (record.skips.steps > 0) show_skips(record);
  if (clock_.now() - last_shown_ < (settings_.terminal ? kPause : kSilence)) return;
  last_shown_ = clock_.now();
  const double left = static_cast<double>(record.samples_total - record.samples_seen) / std::max(record.samples_per_second, 1e-9);
  out_ << (settings_.terminal ? "\r\033[K" : "")
       << fmt::format("epoch {}/{}  {:.0f} %  {:.0f} samples/s{}{}  {} left", record.epoch + 1, settings_.epochs,
                      100.0 * static_cast<double>(record.samples_seen) / static_cast<double>(record.samples_total),
                      record.samples_per_second, record.workers > 1 ? fmt::format("  {} workers", record.workers) : "",
                      score("", record.epoch_mean), duration(left))
       << (settings_.terminal ? "" : "\n") << std::flush;
}

void Progress::epoch(const train::EpochRecord& record) {
  last_shown_ = clock_.now();
  if (settings_.terminal) out_ << "\r\033[K";
  out_ << fmt::format("epoch {}/{}  {:.0f} samples/s{}{}{}", record.epoch + 1, settings_.epochs, record.samples_per_second,
                      score("", record.train, record.penalty), score("validation ", record.validation), score("test ", record.test))
       << std::endl;
}

void Progress::evaluation(std::int64_t done, std::int64_t all) {
  const bool is_over = done >= all;
  if (!settings_.terminal || (!is_over && clock_.now() - last_shown_ < kPause)) return;
  last_shown_ = clock_.now();
  out_ << "\r\033[K";
  if (!is_over) out_ << fmt::format("evaluating: {} of {} samples", done, all);
  out_ << std::flush;
}

}  // namespace trireme::run
