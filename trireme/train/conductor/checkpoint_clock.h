// SPDX-License-Identifier: Apache-2.0
// When the next checkpoint is due: an interval after the last one that was written, however many generations there were in between.
#pragma once

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
  // One that was requested and is not written after an interval is requested again: the write failed, or the request was lost.
  bool is_due() const {
    if (interval_ <= Seconds(0) || !counts_from_ || clock_.now() - *counts_from_ < interval_) return false;
    return !requested_ || clock_.now() - *requested_ >= interval_;
  }
  void request() { requested_ = clock_.now(); }
  // On disk, under its name.
  void on_written() {
    counts_from_ = clock_.now();
    requested_.reset();
  }

 private:
  Seconds interval_;
  const Clock& clock_;
  std::optional<Seconds> counts_from_;
  std::optional<Seconds> requested_;  // in this generation, and not written yet
};

}  // namespace trireme::train
