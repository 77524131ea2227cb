// SPDX-License-Identifier: Apache-2.0
// When the next checkpoint is due: an interval after the last one that was kept, however many generations there were in between.
#pragma once

#include <optional>

#include "trireme/base/clock.h"

namespace trireme::train {

class CheckpointClock {
 public:
  // Never due if the interval is 0.
  CheckpointClock(Seconds interval, const Clock& clock) : interval_(interval), clock_(clock) {}

  // A request of the generation before is lost with it: if it is due, it is asked for again at once. The first generation starts the
  // clock.
  void begin_generation() {
    requested_.reset();
    if (!counts_from_) counts_from_ = clock_.now();
  }
  // One that was asked for and is not kept after an interval is asked for again: it could not be written, or got lost on the way.
  bool is_due() const {
    if (interval_ <= Seconds(0) || !counts_from_ || clock_.now() - *counts_from_ < interval_) return false;
    return !requested_ || clock_.now() - *requested_ >= interval_;
  }
  void request() { requested_ = clock_.now(); }
  // Written and renamed.
  void kept() {
    counts_from_ = clock_.now();
    requested_.reset();
  }

 private:
  Seconds interval_;
  const Clock& clock_;
  std::optional<Seconds> counts_from_;
  std::optional<Seconds> requested_;  // in this generation, and not kept yet
};

}  // namespace trireme::train
