// SPDX-License-Identifier: Apache-2.0
// Shares of a batch by measured speed: workers that compute faster take more samples, so that all finish together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trireme/train/team.h"

namespace trireme::train {

class SpeedShares {
 public:
  explicit SpeedShares(std::int64_t batch_size) : batch_size_(batch_size) {}

  void count(std::int64_t samples, double seconds);  // a step of this worker
  bool is_due() const;                               // at the same steps everywhere
  // All workers together. The new shares, if they differ from `now` by enough to be worth another compilation.
  std::optional<std::vector<double>> measure(Team& team, const std::vector<double>& now);

 private:
  std::int64_t batch_size_;
  std::int64_t steps_ = 0;
  double samples_ = 0, seconds_ = 0;  // since the last measurement
};

// Proportional to `speeds`, in whole units of a 64th of the batch (at least a sample), at least one unit each.
std::vector<double> shares_by_speed(std::int64_t batch_size, const std::vector<double>& speeds);

}  // namespace trireme::train
