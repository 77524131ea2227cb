// SPDX-License-Identifier: Apache-2.0
// Errors of predicted numbers: MAE, RMSE and R² of each target, and their means.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trireme/report/scores/evaluation.h"

namespace trireme::report {

class NumberTally {
 public:
  explicit NumberTally(std::size_t targets) : targets_(targets) {}

  // As many of each as there are targets.
  void add(std::span<const float> truth, std::span<const float> answer);
  NumberEvaluation finish() const;

 private:
  // Variance by Welford's update: a sum of squares would lose the digits of large targets.
  struct Target {
    double absolute = 0, squared = 0;  // sums of errors
    double mean = 0, deviations = 0;   // of the truth
  };
  NumberScore score_of(const Target& target) const;

  std::int64_t samples_ = 0;
  std::vector<Target> targets_;
};

}  // namespace trireme::report
