// SPDX-License-Identifier: Apache-2.0
// Count, mean and spread of numbers that come one by one; two of them can be joined.
#pragma once

#include <cmath>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

class Moments {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    ++count_;
    const double change = value - mean_;
    mean_ += change / count_;
    squares_ += change * (value - mean_);
  }
  void join(const Moments& other) {
    if (other.count_ == 0) return;
    const double count = count_ + other.count_;
    const double change = other.mean_ - mean_;
    squares_ += other.squares_ + change * change * count_ * other.count_ / count;
    mean_ += change * other.count_ / count;
    count_ = count;
  }
  double count() const { return count_; }
  double mean() const { return count_ > 0 ? mean_ : kUnknown; }
  double sum() const { return mean_ * count_; }
  double deviation() const { return count_ > 1 ? std::sqrt(squares_ / (count_ - 1)) : kUnknown; }

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Smallest, largest and mean of values that hold for some time each.
class Extremes {
 public:
  void add(double value, double weight) {
    if (!std::isfinite(value) || !(weight > 0)) return;
    min_ = weight_ > 0 ? std::fmin(min_, value) : value;
    max_ = weight_ > 0 ? std::fmax(max_, value) : value;
    sum_ += value * weight;
    weight_ += weight;
  }
  Extent extent() const { return weight_ > 0 ? Extent{.min = min_, .mean = sum_ / weight_, .max = max_} : Extent{}; }

 private:
  double min_ = 0, max_ = 0, sum_ = 0, weight_ = 0;
};

}  // namespace trireme::report
