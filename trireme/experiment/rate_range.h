// SPDX-License-Identifier: Apache-2.0
// Learning-rate range test: what losses under a rate that grows say of the rate to train with. Nothing here trains.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trireme::experiment {

struct RateStep {
  double rate = 0;
  double loss = 0;
};

// The rate of step `step` of `steps`: from `from` to `to`, by the same factor each time.
double rate_at(int step, int steps, double from, double to);

// Follows losses as they come.
class DivergenceWatch {
 public:
  // True: the loss, smoothed, has left where it began and is far above the lowest, or it is no number.
  bool add(double loss);

 private:
  double mean_ = 0;
  double first_ = 0;
  double lowest_ = 0;
  int count_ = 0;
};

// What a finished range test shows; rates where its smoothed curve ...
struct RateFinding {
  std::vector<double> smoothed;    // one for each step
  double steepest = 0;             // ... falls fastest
  double lowest = 0;               // ... is lowest
  std::optional<double> diverges;  // ... is above where it began, after that
  double suggestion = 0;           // two digits
};
// Nothing: the loss never fell. `steps` ascend in their rate; `has_diverged`: there are no more since the loss diverged. The suggestion
// lies between steepest and lowest, and is at most a tenth of where it diverges: docs/experiments.md has what was measured with it.
std::optional<RateFinding> find_rate(const std::vector<RateStep>& steps, bool has_diverged = false);

// The curve as text, rates from left to right on a logarithmic scale; a column of bars marks the suggestion.
std::string plot_rates(const std::vector<RateStep>& steps, const RateFinding& finding);

}  // namespace trireme::experiment
