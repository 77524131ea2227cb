// SPDX-License-Identifier: Apache-2.0
// How far a clock of this node is behind the coordinator's, from round trips between the two.
#pragma once

#include <deque>
#include <mutex>
#include <optional>

namespace trireme::coord {

// Seconds of two clocks that have nothing in common but their speed.
struct RoundTrip {
  double sent = 0;      // here
  double received = 0;  // there
  double answered = 0;  // there
  double back = 0;      // here
};

// As NTP does it: the answer lies in the middle of the fastest round trip, and can be wrong by half of it. Any thread.
class ClockOffset {
 public:
  struct Estimate {
    double offset = 0;       // to be added to a time here
    double uncertainty = 0;  // the truth is at most so far away, however unlike the two ways were
  };

  void add(const RoundTrip& trip);  // the newest
  std::optional<Estimate> estimate() const;

 private:
  struct Sample {
    Estimate estimate;
    double time = 0;  // here
  };

  mutable std::mutex mutex_;
  std::deque<Sample> samples_;
};

}  // namespace trireme::coord
