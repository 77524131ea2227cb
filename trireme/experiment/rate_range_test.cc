// SPDX-License-Identifier: Apache-2.0
// Range tests: curves of known form, noise, divergence, and curves that say nothing.
#include "trireme/experiment/rate_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trireme/base/random.h"

namespace trireme::experiment {
namespace {

constexpr int kSteps = 100;

// Falls from 2.3 to 0.3 around `fall` and rises again from `rise` on.
std::vector<RateStep> curve(double fall, double rise, double noise) {
  RandomStream random(3);
  std::vector<RateStep> steps;
  for (int i = 0; i < kSteps; ++i) {
    const double rate = rate_at(i, kSteps, 1e-6, 10);
    const double x = std::log10(rate);
    const double loss = 0.3 + 2 / (1 + std::exp(6 * (x - std::log10(fall)))) + std::exp(3 * (x - std::log10(rise)));
    steps.push_back({rate, loss + noise * (random.uniform() - 0.5)});
  }
  return steps;
}

TEST(RateRange, GrowsByTheSameFactor) {
  EXPECT_DOUBLE_EQ(rate_at(0, 5, 1e-4, 1), 1e-4);
  EXPECT_DOUBLE_EQ(rate_at(2, 5, 1e-4, 1), 1e-2);
  EXPECT_DOUBLE_EQ(rate_at(4, 5, 1e-4, 1), 1);
}

TEST(RateRange, SuggestsARateBetweenTheSteepestFallAndTheLowestLoss) {
  for (const double noise : {0.0, 0.2}) {
    const auto finding = find_rate(curve(0.001, 1, noise));
    ASSERT_TRUE(finding);
    EXPECT_NEAR(std::log10(finding->steepest), -3, 0.25) << noise;
    EXPECT_GT(finding->suggestion, finding->steepest) << noise;
    EXPECT_LT(finding->suggestion, finding->lowest) << noise;
    ASSERT_TRUE(finding->diverges);
    EXPECT_NEAR(std::log10(*finding->diverges), 0.2, 0.3) << noise;
  }
}

// It stopped at a loss that is no number, before the curve could rise.
TEST(RateRange, TheEndOfATestThatDivergedIsADivergence) {
  std::vector<RateStep> steps = curve(0.001, 1e9, 0);
  steps.resize(60);
  EXPECT_FALSE(find_rate(steps)->diverges);
  EXPECT_EQ(find_rate(steps, true)->diverges, steps.back().rate);
}

TEST(RateRange, StaysATenthBelowTheDivergence) {
  const auto finding = find_rate(curve(0.2, 0.8, 0));
  ASSERT_TRUE(finding && finding->diverges);
  EXPECT_LE(finding->suggestion, *finding->diverges / 10 * 1.05);
}

TEST(RateRange, SaysNothingWhereTheLossDoesNotFall) {
  EXPECT_FALSE(find_rate({}));
  EXPECT_FALSE(find_rate(curve(1e9, 1e9, 0.05)));
  EXPECT_FALSE(find_rate(curve(1e9, 1e-3, 0)));
}

TEST(RateRange, WatchesForDivergence) {
  DivergenceWatch watch;
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(watch.add(2.3 - 0.03 * i + 0.4 * (i % 2)));
  EXPECT_FALSE(watch.add(6)) << "one loss is no divergence";
  int more = 0;
  while (!watch.add(9) && more < 20) ++more;
  EXPECT_LT(more, 8);
  EXPECT_TRUE(DivergenceWatch().add(std::numeric_limits<double>::infinity()));
}

TEST(RateRange, IsPlottedWithItsSuggestion) {
  const std::vector<RateStep> steps = curve(0.01, 1, 0);
  const std::string plot = plot_rates(steps, *find_rate(steps));
  EXPECT_THAT(plot, testing::AllOf(testing::HasSubstr("*"), testing::HasSubstr("|"), testing::HasSubstr("1e-2")));
  for (std::size_t begin = 0, end = 0; (end = plot.find('\n', begin)) != std::string::npos; begin = end + 1) EXPECT_LE(end - begin, 80U);
}

}  // namespace
}  // namespace trireme::experiment
