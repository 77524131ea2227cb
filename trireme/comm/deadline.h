// SPDX-License-Identifier: Apache-2.0
// A moment after which no thread waits any more, and timeouts as Gloo counts them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "trireme/base/clock.h"
#include "trireme/comm/cancellation.h"

namespace trireme::comm {

class Deadline {
 public:
  // With a cancellation, which must outlive it, waits end with that too.
  explicit Deadline(Seconds timeout, const Cancellation* cancellation = nullptr)
      : end_(SteadyClock{}.now() + timeout), cancellation_(cancellation) {}

  Seconds left() const { return std::max(Seconds{0}, end_ - SteadyClock{}.now()); }
  bool passed() const { return left() == Seconds{0}; }
  Deadline at_most(Seconds timeout) const { return Deadline(std::min(left(), timeout), cancellation_); }
  void check_cancellation() const {
    if (cancellation_ != nullptr) cancellation_->check();
  }
  int cancellation_descriptor() const { return cancellation_ == nullptr ? -1 : cancellation_->descriptor(); }  // -1: poll looks past it

 private:
  Seconds end_;
  const Cancellation* cancellation_;
};

// At least one: Gloo takes 0 for "wait for ever". At most a day: more overflows where it is added to a clock.
inline std::chrono::milliseconds milliseconds_of(Seconds timeout) {
  const double wanted = std::ceil(timeout.count() * 1000);
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(wanted, 1.0, 24 * 3600e3)));
}

}  // namespace trireme::comm
