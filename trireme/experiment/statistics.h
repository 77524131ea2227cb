// SPDX-License-Identifier: Apache-2.0
// What repeated runs say: mean, spread, and whether a difference is more than chance.
#pragma once

#include <vector>

namespace trireme::experiment {

struct Sample {
  std::vector<double> values;

  int size() const { return static_cast<int>(values.size()); }
  double mean() const;  // NaN if there are none
  double sd() const;    // of single runs, with n - 1; NaN below two
};

// The value that a t-distributed number with `freedom` degrees (they may be fractional) stays below with this probability.
double student_quantile(double probability, double freedom);

enum class Order { less, greater, unclear };

// Of two means, by Welch's t test (the spreads need not be equal), two-sided, at this confidence. With fewer than two runs on a side
// the order is unclear.
Order welch_order(const Sample& a, const Sample& b, double confidence);

// One-sided bounds of a mean, each holding with this probability; infinite below two values.
struct Bounds {
  double lower;
  double upper;
};
Bounds mean_bounds(const Sample& sample, double confidence);

}  // namespace trireme::experiment
