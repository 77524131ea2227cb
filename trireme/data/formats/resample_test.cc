// SPDX-License-Identifier: Apache-2.0
// Resampled curves keep lines, means and total light.
#include "trireme/data/formats/resample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "trireme/data/formats/redshift_bins.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

std::vector<float> resampled(const std::vector<double>& grid, const std::vector<float>& values, double low, double high,
                             std::size_t width) {
  std::vector<float> out(width);
  resample(grid, values, low, high, out);
  return out;
}

TEST(Resample, ALineStaysALine) {
  const std::vector<double> grid{0, 0.5, 3, 4};  // uneven
  const std::vector<float> values{0, 0.5, 3, 4};
  EXPECT_THAT(resampled(grid, values, 0, 4, 4), ElementsAre(0.5F, 1.5F, 2.5F, 3.5F));
  EXPECT_THAT(resampled(grid, values, 1, 2, 4), ElementsAre(1.125F, 1.375F, 1.625F, 1.875F));
}

TEST(Resample, NarrowCellsInterpolate) {
  const std::vector<float> out = resampled({0, 1, 2}, {0, 10, 0}, 0, 2, 200);
  EXPECT_NEAR(out[50], 5.05, 1e-4);
  EXPECT_NEAR(out[150], 4.95, 1e-4);
}

TEST(Resample, WideCellsAverage) { EXPECT_THAT(resampled({0, 1, 2, 3, 4}, {0, 4, 0, 8, 0}, 0, 4, 2), ElementsAre(2, 4)); }

TEST(Resample, BeyondTheGridIsNothing) {
  EXPECT_THAT(resampled({1, 2}, {6, 6}, 0, 4, 4), ElementsAre(0, 6, 0, 0));
  EXPECT_THAT(resampled({1.5, 2}, {6, 6}, 0, 4, 4), ElementsAre(0, FloatNear(3, 1e-6), 0, 0));
}

TEST(Resample, NoLightIsLost) {
  std::vector<double> grid;
  std::vector<float> values;
  for (int i = 0; i <= 1000; ++i) {
    grid.push_back(i * 0.001);
    values.push_back(static_cast<float>(i % 7) * static_cast<float>(i % 3));
  }
  values.front() = values.back() = 0;
  const double total = std::accumulate(values.begin(), values.end(), 0.0) / 1000;
  for (const std::size_t width : {1U, 7U, 999U, 4000U}) {
    const std::vector<float> out = resampled(grid, values, 0, 1, width);
    EXPECT_NEAR(std::accumulate(out.begin(), out.end(), 0.0) / static_cast<double>(width), total, 1e-4) << width;
  }
}

TEST(RedshiftBins, AreEvenAndHalfOpen) {
  const RedshiftBins bins{.bins = 4, .min = 0, .max = 2};
  EXPECT_THAT((std::vector{bins.label(0), bins.label(0.49), bins.label(0.5), bins.label(1.99)}), ElementsAre(0, 0, 1, 3));
  EXPECT_THAT((std::vector{bins.label(-1), bins.label(2), bins.label(1e300)}), ElementsAre(0, 3, 3));
  EXPECT_TRUE(bins.contain(0));
  EXPECT_FALSE(bins.contain(2));
  EXPECT_THAT(bins.names(), ElementsAre("0 to 0.5", "0.5 to 1", "1 to 1.5", "1.5 to 2"));
}

}  // namespace
}  // namespace trireme::data
