// SPDX-License-Identifier: Apache-2.0
// How long the end of a training waits for a disk that refuses what must be written: a minute, ten seconds after an interruption.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "trireme/base/clock.h"

namespace trireme::run {

class EndPatience {
 public:
  static constexpr Seconds kAtEnd{60};
  static constexpr Seconds kInterrupted{10};

  // Both must outlive it. `stop` is the signal that interrupted the training, or interrupts this.
  EndPatience(const Clock& clock, const std::atomic<int>& stop) : clock_(clock), stop_(stop), end_(clock.now() + kAtEnd) { is_over(); }

  bool is_over() {
    if (stop_ != 0 && !std::exchange(is_interrupted_, true)) end_ = std::min(end_, clock_.now() + kInterrupted);
    return clock_.now() >= end_;
  }
  Seconds left() { return is_over() ? Seconds(0) : end_ - clock_.now(); }
  // Until it is over at the latest.
  void sleep(Seconds seconds) {
    const Seconds wake = clock_.now() + seconds;
    while (clock_.now() < wake && !is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

 private:
  const Clock& clock_;
  const std::atomic<int>& stop_;
  Seconds end_;
  bool is_interrupted_ = false;
};

}  // namespace trireme::run
