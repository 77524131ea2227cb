// SPDX-License-Identifier: Apache-2.0
// The estimator against gradients whose noise is known.
#include "trireme/train/team/noise_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace trireme::train {
namespace {

// Gradients of single samples: a true one, and independent noise of this spread in each place.
struct Population {
  std::vector<double> gradient;
  double spread = 1;
  double signal() const {
    double sum = 0;
    for (const double value : gradient) sum += value * value;
    return sum;
  }
  double variance() const { return spread * spread * static_cast<double>(gradient.size()); }
};

GradientSquares draw(const Population& population, const std::vector<int>& batches, std::mt19937& random) {
  GradientSquares out;
  for (const int batch : batches) out.batch_size += batch;
  std::vector<double> mean(population.gradient.size());
  for (const int batch : batches) {
    if (batch == 0) continue;
    ++out.workers;
    // The mean of `batch` normal values is one normal value of less spread.
    std::normal_distribution<double> noise(0, population.spread / std::sqrt(batch));
    const double weight = batch / out.batch_size;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double value = population.gradient[i] + noise(random);
      out.local += weight * value * value;
      mean[i] += weight * value;
    }
  }
  for (const double value : mean) out.mean += value * value;
  return out;
}

NoiseEstimate mean_estimate(const Population& population, const std::vector<int>& batches, int draws) {
  std::mt19937 random(7);
  NoiseEstimate out;
  for (int i = 0; i < draws; ++i) {
    const NoiseEstimate one = *estimate_noise(draw(population, batches, random));
    out.variance += one.variance / draws;
    out.signal += one.signal / draws;
  }
  return out;
}

const Population kPopulation{.gradient = {0.5, -1, 0.7, 0.2, 0, 0.4, -0.1, 0.3, 0.05, -0.6}, .spread = 2};

TEST(NoiseScale, EstimatorIsUnbiasedForUnequalBatches) {
  const NoiseEstimate found = mean_estimate(kPopulation, {8, 16, 40}, 40000);
  EXPECT_NEAR(found.variance, kPopulation.variance(), 0.01 * kPopulation.variance());
  EXPECT_NEAR(found.signal, kPopulation.signal(), 0.01 * kPopulation.signal());
}

TEST(NoiseScale, EqualBatchesGiveTheKnownFormula) {
  // Pollux: var = (local - total) scale/(count-1), sqr = (count total - local)/(count-1), here with scale 1 and batches of one sample.
  const NoiseEstimate found = *estimate_noise({.local = 5, .mean = 2, .batch_size = 4, .workers = 4});
  EXPECT_DOUBLE_EQ(found.variance, 4.0 / 3 * (5 - 2));
  EXPECT_DOUBLE_EQ(found.signal, (4 * 2.0 - 5) / 3);
}

TEST(NoiseScale, AWorkerWithoutSamplesCountsForNothing) {
  const NoiseEstimate found = mean_estimate(kPopulation, {8, 0, 16, 40, 0}, 40000);
  EXPECT_NEAR(found.variance, kPopulation.variance(), 0.01 * kPopulation.variance());
  EXPECT_NEAR(found.signal, kPopulation.signal(), 0.01 * kPopulation.signal());
}

TEST(NoiseScale, OneWorkerMeasuresNothing) {
  EXPECT_FALSE(estimate_noise({.local = 3, .mean = 3, .batch_size = 64, .workers = 1}));
  EXPECT_FALSE(estimate_noise({.local = 0, .mean = 0, .batch_size = 0, .workers = 0}));
  NoiseScale scale;
  scale.add({.local = 3, .mean = 3, .batch_size = 64, .workers = 1});
  EXPECT_EQ(scale.value(), 0);
}

TEST(NoiseScale, SmoothsBothPartsAndTakesTheFirstAsItIs) {
  NoiseScale scale;
  scale.add({.local = 3, .mean = 2, .batch_size = 10, .workers = 2});  // S = 10, |G|^2 = 1
  EXPECT_DOUBLE_EQ(scale.value(), 10);
  scale.add({.local = 6, .mean = 4, .batch_size = 10, .workers = 2});  // S = 20, |G|^2 = 2
  EXPECT_DOUBLE_EQ(scale.value(), (0.9 * 10 + 0.1 * 20) / (0.9 * 1 + 0.1 * 2));
}

TEST(NoiseScale, OneMeasurementBelowZeroIsOnlyOneOfMany) {
  NoiseScale scale;
  scale.add({.local = 3, .mean = 2, .batch_size = 10, .workers = 2});  // S = 10, |G|^2 = 1
  scale.add({.local = 4, .mean = 1, .batch_size = 10, .workers = 2});  // S = 30, |G|^2 = -2
  EXPECT_DOUBLE_EQ(scale.value(), (0.9 * 10 + 0.1 * 30) / (0.9 * 1 - 0.1 * 2));
}

TEST(NoiseScale, IsInfiniteWhileTheGradientIsLostInNoise) {
  NoiseScale scale;
  scale.add({.local = 4, .mean = 1, .batch_size = 10, .workers = 2});  // |G|^2 = -2
  EXPECT_TRUE(std::isinf(scale.value()));
  for (int i = 0; i < 20; ++i) scale.add({.local = 3, .mean = 2, .batch_size = 10, .workers = 2});
  EXPECT_TRUE(std::isfinite(scale.value()));
  EXPECT_GT(scale.value(), 10);
}

TEST(NoiseScale, EqualGradientsHaveNoNoise) {
  NoiseScale scale;
  scale.add({.local = 2, .mean = 2.0000001, .batch_size = 10, .workers = 2});
  EXPECT_EQ(scale.value(), 0);
}

}  // namespace
}  // namespace trireme::train
