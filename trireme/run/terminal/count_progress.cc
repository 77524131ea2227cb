// SPDX-License-Identifier: Apache-2.0
// Counts, speed and the time that is left; short passes say nothing.
#include "trireme/run/terminal/count_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/table.h"

namespace trireme::run {
namespace {

constexpr Seconds kPause{0.2};      // between two rewrites of the line
constexpr Seconds kPlainPause{10};  // between two lines where nothing can be rewritten

}  // namespace

CountProgress::CountProgress(std::ostream& out, const Clock& clock, Settings settings)
    : out_(out), clock_(clock), settings_(std::move(settings)), started_(clock.now()), last_shown_(started_) {}

CountProgress::~CountProgress() {
  if (has_line_) out_ << "\r\033[K" << std::flush;
}

void CountProgress::at(std::int64_t done) {
  const Seconds now = clock_.now();
  if (now - last_shown_ < (settings_.terminal ? kPause : kPlainPause)) return;
  last_shown_ = now;
  const double rate = static_cast<double>(done) / std::max((now - started_).count(), 1e-9);
  const double left = static_cast<double>(settings_.total - done) / std::max(rate, 1e-9);
  const std::string text = fmt::format("{} of {} {}  {:.0f}/s{}", with_thousands(done), with_thousands(settings_.total), settings_.what,
                                       rate, done > 0 ? fmt::format("  {:.0f} s left", left) : "");
  if (settings_.terminal) {
    out_ << "\r\033[K" << text << std::flush;
    has_line_ = true;
  } else {
    out_ << text << std::endl;
  }
}

}  // namespace trireme::run
