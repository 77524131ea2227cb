// SPDX-License-Identifier: Apache-2.0
// Smoothing of the losses, the slope of their curve, and the rate that follows from it.
#include "trireme/experiment/rate_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace trireme::experiment {
namespace {

constexpr double kMemory = 0.8;          // of the watch's running mean
constexpr int kFirstLosses = 5;          // whose mean is where the loss began
constexpr double kDivergence = 3;        // times the lowest loss
constexpr double kWidth = 0.02;          // of the curve's smoothing, as a share of the steps
constexpr double kLeastFall = 0.05;      // of the loss; less is noise
constexpr double kBelowDivergence = 10;  // the suggestion is at most so much smaller than where it diverges

// Around each step, by a bell curve: unlike a running mean it doesn't move the curve towards higher rates.
std::vector<double> smoothed(const std::vector<RateStep>& steps) {
  const double width = std::max(1.0, kWidth * static_cast<double>(steps.size()));
  std::vector<double> out(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double sum = 0;
    double weights = 0;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const double distance = (static_cast<double>(i) - static_cast<double>(j)) / width;
      const double weight = std::exp(-0.5 * distance * distance);
      sum += weight * steps[j].loss;
      weights += weight;
    }
    out[i] = sum / weights;
  }
  return out;
}

double beginning_of(const std::vector<double>& curve) {
  const auto count = std::min<std::size_t>(kFirstLosses, curve.size());
  return std::accumulate(curve.begin(), curve.begin() + static_cast<std::ptrdiff_t>(count), 0.0) / static_cast<double>(count);
}

// Of the fall up to the lowest point.
std::size_t steepest_step(const std::vector<double>& curve, std::size_t lowest) {
  std::size_t best = 1;
  double slope = 0;
  for (std::size_t i = 1; i < lowest; ++i) {
    const double here = (curve[i + 1] - curve[i - 1]) / 2;  // steps are even in log(rate)
    if (here >= slope) continue;
    slope = here;
    best = i;
  }
  return best;
}

double two_digits(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

}  // namespace

double rate_at(int step, int steps, double from, double to) {
  return from * std::pow(to / from, steps > 1 ? static_cast<double>(step) / (steps - 1) : 0.0);
}

bool DivergenceWatch::add(double loss) {
  if (!std::isfinite(loss)) return true;
  mean_ = kMemory * mean_ + (1 - kMemory) * loss;
  const double mean = mean_ / (1 - std::pow(kMemory, ++count_));
  if (count_ <= kFirstLosses) {
    first_ = lowest_ = mean;
    return false;
  }
  lowest_ = std::min(lowest_, mean);
  return mean > kDivergence * lowest_ && mean > 1.5 * first_;
}

std::optional<RateFinding> find_rate(const std::vector<RateStep>& steps, bool has_diverged) {
  if (steps.size() < 3) return std::nullopt;
  RateFinding finding{.smoothed = smoothed(steps)};
  const std::vector<double>& curve = finding.smoothed;
  const auto lowest = static_cast<std::size_t>(std::ranges::min_element(curve) - curve.begin());
  const double first = beginning_of(curve);
  if (lowest < 2 || first - curve[lowest] < kLeastFall * std::abs(first)) return std::nullopt;
  finding.lowest = steps[lowest].rate;
  finding.steepest = steps[steepest_step(curve, lowest)].rate;
  const auto above =
      std::find_if(curve.begin() + static_cast<std::ptrdiff_t>(lowest), curve.end(), [&](double loss) { return loss > first; });
  if (above != curve.end()) finding.diverges = steps[static_cast<std::size_t>(above - curve.begin())].rate;
  if (!finding.diverges && has_diverged) finding.diverges = steps.back().rate;
  const double between = std::sqrt(finding.steepest * finding.lowest);
  finding.suggestion = two_digits(finding.diverges ? std::min(between, *finding.diverges / kBelowDivergence) : between);
  return finding;
}

}  // namespace trireme::experiment
