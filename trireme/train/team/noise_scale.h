// SPDX-License-Identifier: Apache-2.0
// The gradient noise scale: how many samples a batch needs until its gradient is as much signal as noise, from unequal batches.
#pragma once

#include <cstdint>
#include <optional>

namespace trireme::train {

// One step of n workers: worker i has the mean gradient g_i of b_i samples, B = sum of b_i, g = sum of (b_i/B) g_i.
struct GradientSquares {
  double local = 0;          // sum of (b_i/B) |g_i|^2
  double mean = 0;           // |g|^2
  double batch_size = 0;     // B
  std::int64_t workers = 0;  // that had samples
};

// S is the variance of a sample's gradient, summed over all parameters; |G|^2 is the square of the gradient without noise. Both are
// unbiased, so the second one can come out below 0.
//   S = B/(n-1) (sum of (b_i/B) |g_i|^2 - |g|^2),  |G|^2 = |g|^2 - S/B
struct NoiseEstimate {
  double variance = 0;  // S
  double signal = 0;    // |G|^2
};
// Nothing with fewer than two workers that had samples.
std::optional<NoiseEstimate> estimate_noise(const GradientSquares& squares);

// phi = S / |G|^2, each of the two smoothed over the steps that measured it: the quotient of two noisy numbers is not.
class NoiseScale {
 public:
  static constexpr double kMemory = 0.9;  // weight of what was, in each measurement; the first one is taken as it is

  void add(const GradientSquares& squares);
  // 0: not measured. Infinite: so far the gradient is lost in the noise.
  double value() const;

 private:
  std::optional<NoiseEstimate> smoothed_;
};

}  // namespace trireme::train
