// SPDX-License-Identifier: Apache-2.0
// Of what a node's steps are made: parts that follow one another, and work beside them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "trireme/observe/number_table.h"
#include "trireme/report/document/moments.h"
#include "trireme/report/document/run_document.h"

namespace trireme::report {

inline constexpr std::array<std::string_view, 6> kStepParts{"input_wait", "forward", "backward", "exchange_exposed", "optimizer", "idle"};
inline constexpr std::array<std::string_view, 3> kBesideParts{"read", "decode", "exchange"};

// Sums over some steps, as a telemetry record has them.
struct StepSums {
  double steps = 0;
  double seconds = 0;
  std::array<double, kStepParts.size()> parts{};
  std::array<double, kBesideParts.size()> beside{};

  void add(const StepSums& other);
};
// Means without spreads.
Anatomy anatomy_of(const StepSums& sums);

// Every step by itself, as the table of steps has them.
struct StepMoments {
  Moments seconds;
  std::array<Moments, kStepParts.size()> parts;
  std::array<Moments, kBesideParts.size()> beside;
  Moments staleness;
  double bytes_sent = 0;

  void join(const StepMoments& other);
};
Anatomy anatomy_of(const StepMoments& moments);

// RUN/steps/<node>.csv, line by line. The first step is left out: it pays for what happens once.
class StepTable {
 public:
  void take(std::string_view line);
  const StepMoments& moments() const { return moments_; }
  double first_step_seconds() const { return first_step_seconds_; }

 private:
  observe::NumberTable table_;
  bool has_first_ = false;
  double first_step_seconds_ = kUnknown;
  StepMoments moments_;
};

}  // namespace trireme::report
