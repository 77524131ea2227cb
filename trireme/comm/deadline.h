// SPDX-License-Identifier: Apache-2.0
// A moment after which nobody waits any more, and timeouts as Gloo counts them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "trireme/base/clock.h"

namespace trireme::comm {

class Deadline {
 public:
  explicit Deadline(Seconds timeout) : end_(SteadyClock{}.now() + timeout) {}

  Seconds left() const { return std::max(Seconds{0}, end_ - SteadyClock{}.now()); }
  bool passed() const { return left() == Seconds{0}; }
  Deadline at_most(Seconds timeout) const { return Deadline(std::min(left(), timeout)); }

 private:
  Seconds end_;
};

// At least one: Gloo takes 0 for "wait for ever". At most a day: more overflows where it is added to a clock.
inline std::chrono::milliseconds milliseconds_of(Seconds timeout) {
  const double wanted = std::ceil(timeout.count() * 1000);
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(wanted, 1.0, 24 * 3600e3)));
}

}  // namespace trireme::comm
