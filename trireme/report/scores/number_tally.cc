// SPDX-License-Identifier: Apache-2.0
// scikit-learn's definitions: R² of a constant target is 1 if every answer is right, else 0; means are over the targets.
#include "trireme/report/scores/number_tally.h"

#include <cmath>

#include "trireme/base/error.h"

namespace trireme::report {

void NumberTally::add(std::span<const float> truth, std::span<const float> answer) {
  ensure(truth.size() == targets_.size() && answer.size() == targets_.size(), "one number for each target");
  ++samples_;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    Target& target = targets_[i];
    const double right = truth[i];
    const double error = answer[i] - right;
    target.absolute += std::abs(error);
    target.squared += error * error;
    const double before = right - target.mean;
    target.mean += before / static_cast<double>(samples_);
    target.deviations += before * (right - target.mean);
  }
}

NumberScore NumberTally::score_of(const Target& target) const {
  const auto samples = static_cast<double>(samples_);
  NumberScore score{.mean_absolute_error = target.absolute / samples, .root_mean_squared_error = std::sqrt(target.squared / samples)};
  if (samples_ < 2) return score;
  score.r_squared = target.deviations > 0 ? 1 - target.squared / target.deviations : target.squared == 0 ? 1 : 0;
  return score;
}

NumberEvaluation NumberTally::finish() const {
  NumberEvaluation evaluation;
  if (samples_ == 0) return evaluation;
  evaluation.mean.r_squared = 0;
  const auto count = static_cast<double>(targets_.size());
  for (const Target& target : targets_) {
    const NumberScore score = score_of(target);
    evaluation.mean.mean_absolute_error += score.mean_absolute_error / count;
    evaluation.mean.root_mean_squared_error += score.root_mean_squared_error / count;
    evaluation.mean.r_squared += score.r_squared / count;
    evaluation.targets.push_back(score);
  }
  return evaluation;
}

}  // namespace trireme::report
