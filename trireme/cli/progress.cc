// SPDX-License-Identifier: Apache-2.0
// The progress line.
#include "trireme/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace trireme::cli {
namespace {

constexpr Seconds kPause{0.1};  // between two rewrites of the line

std::string duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

void Progress::step(const train::StepRecord& record) {
  if (!settings_.terminal || clock_.now() - last_shown_ < kPause) return;
  last_shown_ = clock_.now();
  const double left = static_cast<double>(record.samples_total - record.samples_seen) / std::max(record.samples_per_second, 1e-9);
  out_ << fmt::format("\r\033[Kepoch {}/{}  {:.0f} %  {:.0f} samples/s  loss {:.4f}  accuracy {:.2f} %  {} left", record.epoch + 1,
                      settings_.epochs, 100.0 * static_cast<double>(record.samples_seen) / static_cast<double>(record.samples_total),
                      record.samples_per_second, record.loss, 100 * record.accuracy, duration(left))
       << std::flush;
}

void Progress::epoch(const train::EpochRecord& record) {
  if (settings_.terminal) out_ << "\r\033[K";
  out_ << fmt::format("epoch {}/{}  {:.0f} samples/s  loss {:.4f}", record.epoch + 1, settings_.epochs, record.samples_per_second,
                      record.loss);
  if (record.penalty > 0) out_ << fmt::format(" + {:.4f}", record.penalty);
  out_ << fmt::format("  accuracy {:.2f} %", 100 * record.accuracy);
  if (settings_.tested) out_ << fmt::format("  test loss {:.4f}  test accuracy {:.2f} %", record.test_loss, 100 * record.test_accuracy);
  out_ << std::endl;
}

}  // namespace trireme::cli
