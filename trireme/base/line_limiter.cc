// SPDX-License-Identifier: Apache-2.0
// Counts the lines of the current second and says how many were held back.
#include "trireme/base/line_limiter.h"

#include <fmt/format.h>

namespace trireme {
namespace {

constexpr Seconds kPause{1};

}  // namespace

const SteadyClock LineLimiter::kSteady;

void LineLimiter::add(const std::string& line, std::uint64_t times) {
  const std::lock_guard lock(mutex_);
  if (!write_) return;
  if (clock_.now() < next_) {
    left_out_ += times;
    return;
  }
  next_ = clock_.now() + kPause;
  left_out_ += times - 1;
  write_(left_out_ == 0 ? line : fmt::format("{} (and {} more)", line, left_out_));
  left_out_ = 0;
}

void LineLimiter::look() {
  const std::lock_guard lock(mutex_);
  if (clock_.now() >= next_) print_rest();
}

void LineLimiter::print_rest() {
  if (left_out_ == 0 || !write_) return;
  next_ = clock_.now() + kPause;
  write_(fmt::format("({} more like that)", left_out_));
  left_out_ = 0;
}

}  // namespace trireme
