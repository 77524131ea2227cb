// SPDX-License-Identifier: Apache-2.0
// Tests of series in bounded memory and of numbers in words.
#include "trireme/report/document/bins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "trireme/report/document/moments.h"
#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

using testing::ElementsAre;

TEST(Bins, KeepFirstAndLastAndMeansBetween) {
  Bins bins({"step", "value"}, 10);
  for (int i = 1; i <= 1000; ++i) bins.add(std::array{static_cast<double>(i), 3.0 * i});
  const Series series = bins.series();
  EXPECT_LE(series.size(), 10U);
  EXPECT_GE(series.size(), 4U);
  EXPECT_EQ(series.at("step").front(), 1);
  EXPECT_EQ(series.at("step").back(), 1000);
  for (std::size_t i = 0; i < series.size(); ++i) EXPECT_DOUBLE_EQ(series.at("value")[i], 3 * series.at("step")[i]);
}

TEST(Bins, WhatIsUnknownIsLeftOutOfTheMeans) {
  Bins bins({"step", "value", "other"}, 6);
  for (int i = 1; i <= 8; ++i) bins.add(std::array{static_cast<double>(i), i % 2 == 0 ? 5.0 : kUnknown, kUnknown});
  const std::array<std::string_view, 1> optional{"other"};
  const Series series = bins.series(optional);
  EXPECT_EQ(series.columns.size(), 2U);
  EXPECT_EQ(series.at("value")[1], 5);
}

TEST(Bins, CutOffRowsLeaveNoTrace) {
  Bins bins({"step", "value"}, 100);
  for (int i = 1; i <= 10; ++i) bins.add(std::array{static_cast<double>(i), 1.0});
  bins.cut_after(4);
  bins.add(std::array{5.0, 2.0});
  EXPECT_THAT(bins.series().at("step"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(bins.series().at("value"), ElementsAre(1, 1, 1, 1, 2));
  Bins coarse({"step", "value"}, 6);
  for (int i = 1; i <= 64; ++i) coarse.add(std::array{static_cast<double>(i), i <= 20 ? 1.0 : 100.0});
  coarse.cut_after(20);
  for (int i = 21; i <= 30; ++i) coarse.add(std::array{static_cast<double>(i), 1.0});
  EXPECT_THAT(coarse.series().at("value"), testing::Each(1.0));
  coarse.cut_after(0);
  EXPECT_EQ(coarse.series().size(), 0U);
}

TEST(Moments, JoinedAreThoseOfAllValues) {
  Moments all, left, right;
  for (const double value : {1.0, 5.0, 2.0, 8.0, kUnknown}) {
    all.add(value);
    (value < 3 ? left : right).add(value);
  }
  left.join(right);
  EXPECT_EQ(left.count(), 4);
  EXPECT_DOUBLE_EQ(left.mean(), 4);
  EXPECT_DOUBLE_EQ(left.deviation(), all.deviation());
  EXPECT_TRUE(std::isnan(Moments().mean()));
}

TEST(Words, HaveUnits) {
  EXPECT_EQ(duration(0.0000123), "12.3 µs");
  EXPECT_EQ(duration(0.0123), "12.3 ms");
  EXPECT_EQ(duration(12.3), "12.3 s");
  EXPECT_EQ(duration(3723), "1:02:03");
  EXPECT_EQ(duration(kUnknown), "–");
  EXPECT_EQ(percent(0.456), "46 %");
  EXPECT_EQ(percent(0.0456), "4.6 %");
  EXPECT_EQ(signed_percent(0.5), "+50 %");
  EXPECT_EQ(signed_percent(-0.5), "-50 %");
  EXPECT_EQ(bytes(1'234'567), "1.23 MB");
  EXPECT_EQ(rate(999), "999 B/s");
  EXPECT_EQ(plain(60000), "60,000");
}

}  // namespace
}  // namespace trireme::report
