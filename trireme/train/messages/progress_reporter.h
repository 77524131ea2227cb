// SPDX-License-Identifier: Apache-2.0
// Where a node is in its work, as reported to its coordinator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trireme/coord/membership.h"

namespace trireme::train {

// Phases of a node. In some it works by itself, and stands still only if something is wrong with it; the others are waits that have
// their own limits.
inline constexpr std::string_view kRegroup = "regroup";  // it is ready for another generation

// Where this node is, reported to the coordinator and remembered for the report of a failure.
class ProgressReporter {
 public:
  explicit ProgressReporter(coord::Membership& membership) : membership_(membership) {}
  void at(std::int64_t step, std::string_view phase) {
    progress_ = {.step = step, .phase = std::string(phase)};
    membership_.at(step, phase);
  }
  const coord::Progress& progress() const { return progress_; }

 private:
  coord::Membership& membership_;
  coord::Progress progress_;
};

}  // namespace trireme::train
