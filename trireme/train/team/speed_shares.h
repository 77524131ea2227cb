// SPDX-License-Identifier: Apache-2.0
// Shares of a batch by measured speed: workers that compute faster take more samples, so that all finish together.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trireme/train/records/observer.h"
#include "trireme/train/team/team.h"

namespace trireme::train {

class SpeedShares {
 public:
  // automatic: equal, until a worker holds the others up again and again.
  enum class Rule { equal, automatic, speed };
  SpeedShares(std::int64_t batch_size, Rule rule) : batch_size_(batch_size), rule_(rule) {}

  void count(std::int64_t samples, double seconds);  // a step of this worker
  bool is_due() const;                               // at the same steps everywhere

  struct Measured {
    std::optional<std::vector<double>> shares;  // new ones, if they differ from those now by enough to be worth another compilation
    std::optional<StragglerRecord> straggler;   // its share as it was; nothing: one that may be slow for a moment only
  };
  // All workers together.
  Measured measure(Team& team, const std::vector<double>& now);

 private:
  std::int64_t batch_size_;
  Rule rule_;
  std::int64_t steps_ = 0;
  double samples_ = 0, seconds_ = 0;  // since the last measurement
  int straggler_ = -1;                // at the last measurement
};

// `straggler` is what becomes of a slow worker. If it is left out or no worker waits for it, "automatic" leaves shares as they are.
SpeedShares::Rule shares_rule(std::string_view name, std::string_view straggler);

inline constexpr double kUnknownSpeed = 0;  // of a worker that had nothing to compute

// The slowest worker, if it takes much longer for a sample than the median worker. Those of unknown speed are none of them.
std::optional<StragglerRecord> find_straggler(const std::vector<double>& speeds);

// Proportional to `speeds` (an unknown one counts as the mean of the others), in whole units of a 64th of the batch (at least a sample), at
// least one unit each.
std::vector<double> shares_by_speed(std::int64_t batch_size, const std::vector<double>& speeds);

}  // namespace trireme::train
