// SPDX-License-Identifier: Apache-2.0
// Estimator and smoothing of the gradient noise scale.
#include "trireme/train/team/noise_scale.h"

#include <algorithm>
#include <limits>

namespace trireme::train {

std::optional<NoiseEstimate> estimate_noise(const GradientSquares& squares) {
  if (squares.workers < 2 || !(squares.batch_size > 0)) return std::nullopt;
  // The difference is a variance over the workers; only rounding makes it negative.
  const double spread = std::max(0.0, squares.local - squares.mean);
  const double variance = squares.batch_size / static_cast<double>(squares.workers - 1) * spread;
  return NoiseEstimate{.variance = variance, .signal = squares.mean - variance / squares.batch_size};
}

void NoiseScale::add(const GradientSquares& squares) {
  const auto now = estimate_noise(squares);
  if (!now) return;
  if (!smoothed_) {
    smoothed_ = now;
    return;
  }
  smoothed_->variance = kMemory * smoothed_->variance + (1 - kMemory) * now->variance;
  smoothed_->signal = kMemory * smoothed_->signal + (1 - kMemory) * now->signal;
}

double NoiseScale::value() const {
  if (!smoothed_) return 0;
  return smoothed_->signal > 0 ? smoothed_->variance / smoothed_->signal : std::numeric_limits<double>::infinity();
}

}  // namespace trireme::train
