// SPDX-License-Identifier: Apache-2.0
// Words about a clock that is wrong.
#include "trireme/cluster/launch/clock_limits.h"

#include <fmt/format.h>

#include <cmath>

namespace trireme::cluster {
namespace {

// "3650 days", "7.5 hours", "90 s"
std::string duration_text(double seconds) {
  constexpr double kHour = 3600;
  constexpr double kDay = 24 * kHour;
  if (seconds >= 2 * kDay) return fmt::format("{:.0f} days", seconds / kDay);
  if (seconds >= kHour) return fmt::format("{:.1f} hours", seconds / kHour);
  return fmt::format("{:.0f} s", seconds);
}

}  // namespace

std::string clock_fault(const std::string& machine, double ahead, const ClockLimits& limits) {
  if (ahead <= limits.ahead && -ahead <= limits.behind) return {};
  return fmt::format(
      "{}: its clock is {} {} this machine's; a job's certificates do not hold there. Set the clock that is wrong (sudo timedatectl "
      "set-ntp true) and start again",
      machine, duration_text(std::abs(ahead)), ahead > 0 ? "ahead of" : "behind");
}

}  // namespace trireme::cluster
