// SPDX-License-Identifier: Apache-2.0
// When the next checkpoint is due: an interval after the last one that was written, however many generations there were in between; sooner
// if the last one could not be written.
#pragma once

#include <algorithm>
#include <optional>

#include "trireme/base/clock.h"

namespace trireme::train {

class CheckpointClock {
 public:
  // Never due if the interval is 0.
  CheckpointClock(Seconds interval, const Clock& clock) : interval_(interval), clock_(clock) {}

  // A request of the generation before is lost with it: if it is due, it is repeated at once. The first generation starts the
  // clock.
  void begin_generation() {
    requested_.reset();
    if (!counts_from_) counts_from_ = clock_.now();
  }
  // One that was requested and is not written after an interval is requested again: the request was lost.
  bool is_due() const {
    if (interval_ <= Seconds(0) || !counts_from_ || clock_.now() - *counts_from_ < wait_) return false;
    return !requested_ || clock_.now() - *requested_ >= interval_;
  }
  void request() { requested_ = clock_.now(); }
  // On disk, under its name.
  void on_written() {
    count_from_now(interval_);
    next_pause_ = kFirstPause;
  }
  // The disk refused it. Room may come at any time, but a disk that stays full is not to be written to all the time. Never later than
  // the one after it is due.
  void on_failed() {
    const Seconds next = requested_ ? *requested_ + interval_ - clock_.now() : interval_;
    count_from_now(std::min(next, next_pause_));
    next_pause_ = std::min(2 * next_pause_, kMaxPause);
  }

 private:
  static constexpr Seconds kFirstPause{5};
  static constexpr Seconds kMaxPause{60};

  void count_from_now(Seconds wait) {
    counts_from_ = clock_.now();
    wait_ = wait;
    requested_.reset();
  }

  Seconds interval_;
  const Clock& clock_;
  Seconds wait_ = interval_;
  Seconds next_pause_ = kFirstPause;
  std::optional<Seconds> counts_from_;
  std::optional<Seconds> requested_;  // in this generation, and not written yet
};

}  // namespace trireme::train
