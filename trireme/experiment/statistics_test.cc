// SPDX-License-Identifier: Apache-2.0
// Against tables of Student's distribution, and a worked example of Welch's test.
#include "trireme/experiment/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trireme::experiment {
namespace {

TEST(Statistics, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(0.95, 2), 2.91999, 1e-5);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.77645, 1e-5);
  EXPECT_NEAR(student_quantile(0.995, 10), 3.16927, 1e-5);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.95997, 1e-4);
  EXPECT_NEAR(student_quantile(0.05, 2), -2.91999, 1e-5);
  EXPECT_NEAR(student_quantile(0.5, 3), 0, 1e-9);
}

TEST(Statistics, MeanAndSpread) {
  const Sample sample{{2, 4, 4, 4, 5, 5, 7, 9}};
  EXPECT_DOUBLE_EQ(sample.mean(), 5);
  EXPECT_NEAR(sample.sd(), 2.13809, 1e-5);
  EXPECT_TRUE(std::isnan(Sample{{3}}.sd()));
  EXPECT_TRUE(std::isnan(Sample{}.mean()));
}

TEST(Statistics, WelchSeesADifferenceBeyondTheSpreadAndNoOther) {
  // t = 2.46, 24.99 degrees of freedom: p = 0.021.
  const Sample a{{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4}};
  const Sample b{{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4}};
  EXPECT_EQ(welch_order(a, b, 0.95), Order::less);
  EXPECT_EQ(welch_order(b, a, 0.95), Order::greater);
  EXPECT_EQ(welch_order(a, b, 0.99), Order::unclear);
}

TEST(Statistics, OneRunDecidesNothing) {
  EXPECT_EQ(welch_order({{1}}, {{2, 2.1}}, 0.95), Order::unclear);
  EXPECT_EQ(welch_order({{1, 1}}, {{2, 2}}, 0.95), Order::less);
  EXPECT_EQ(welch_order({{1, 1}}, {{1, 1}}, 0.95), Order::unclear);
  EXPECT_TRUE(std::isinf(mean_bounds({{1}}, 0.95).upper));
}

TEST(Statistics, BoundsOfAMeanAreOneSided) {
  const Bounds bounds = mean_bounds({{1, 2, 3}}, 0.95);
  EXPECT_NEAR(bounds.upper, 2 + 2.91999 / std::sqrt(3), 1e-4);
  EXPECT_NEAR(bounds.lower, 2 - 2.91999 / std::sqrt(3), 1e-4);
}

}  // namespace
}  // namespace trireme::experiment
