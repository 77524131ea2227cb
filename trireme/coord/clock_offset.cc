// SPDX-License-Identifier: Apache-2.0
// The best round trip of the last minute.
#include "trireme/coord/clock_offset.h"

#include <algorithm>

namespace trireme::coord {
namespace {

constexpr double kRemembered = 60;  // seconds
constexpr std::size_t kMost = 256;  // round trips
constexpr double kDrift = 20e-6;    // seconds in a second, by which two machines' clocks go apart: a good trip does not stay good
constexpr double kFinest = 1e-6;    // what clocks resolve at all

}  // namespace

void ClockOffset::add(const RoundTrip& trip) {
  const double away = (trip.back - trip.sent) - (trip.answered - trip.received);
  if (!(away >= 0)) return;  // a clock was set in between
  const Sample sample{
      .estimate = {.offset = ((trip.received - trip.sent) + (trip.answered - trip.back)) / 2, .uncertainty = std::max(away / 2, kFinest)},
      .time = trip.back};
  const std::lock_guard lock(mutex_);
  samples_.push_back(sample);
  while (samples_.size() > kMost || samples_.front().time < trip.back - kRemembered) samples_.pop_front();
}

std::optional<ClockOffset::Estimate> ClockOffset::estimate() const {
  const std::lock_guard lock(mutex_);
  if (samples_.empty()) return std::nullopt;
  const double newest = samples_.back().time;
  Estimate best{.uncertainty = -1};
  for (const Sample& sample : samples_) {
    const double uncertainty = sample.estimate.uncertainty + kDrift * (newest - sample.time);
    if (best.uncertainty < 0 || uncertainty <= best.uncertainty) best = {.offset = sample.estimate.offset, .uncertainty = uncertainty};
  }
  return best;
}

}  // namespace trireme::coord
