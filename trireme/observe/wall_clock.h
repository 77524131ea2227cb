// SPDX-License-Identifier: Apache-2.0
// The time of day, handed in so that tests can set it; durations are measured with Clock instead.
#pragma once

#include <chrono>
#include <functional>

namespace trireme::observe {

using WallClock = std::function<std::chrono::system_clock::time_point()>;

// In whole microseconds, which is as fine as a double is for today's dates.
inline double seconds_since_1970(std::chrono::system_clock::time_point time) {
  return static_cast<double>(std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count()) / 1e6;
}

}  // namespace trireme::observe
