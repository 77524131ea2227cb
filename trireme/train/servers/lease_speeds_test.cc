// SPDX-License-Identifier: Apache-2.0
// A slow worker is named, a moment's load is not.
#include "trireme/train/servers/lease_speeds.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

// Rounds in which each worker does one step of 10 samples; the last record, if any.
std::optional<StragglerRecord> after(LeaseSpeeds& speeds, int rounds, std::initializer_list<double> seconds) {
  std::optional<StragglerRecord> out;
  for (int round = 0; round < rounds; ++round) {
    int worker = 3;
    for (const double step : seconds)
      if (auto found = speeds.count(worker++, 10, step)) out = found;
  }
  return out;
}

TEST(LeaseSpeeds, NameTheOneThatStaysSlow) {
  LeaseSpeeds speeds(3);
  EXPECT_FALSE(after(speeds, 10, {1, 1.1, 4})) << "once may be chance";
  const auto found = after(speeds, 10, {1, 1.1, 4});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 5);
  EXPECT_NEAR(found->slowness, 4 / 1.1, 0.5);
  EXPECT_NEAR(found->share, 1.0 / 3, 1e-9);
}

TEST(LeaseSpeeds, AMomentsLoadIsForgotten) {
  LeaseSpeeds speeds(3);
  EXPECT_FALSE(after(speeds, 10, {1, 1, 4}));
  const auto none = after(speeds, 10, {1, 1, 1});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->rank, -1);
  EXPECT_FALSE(after(speeds, 10, {1, 1, 4}));
}

TEST(LeaseSpeeds, ShowWhenTheSlowOneHasRecovered) {
  LeaseSpeeds speeds(3);
  EXPECT_EQ(after(speeds, 20, {1, 1, 4})->rank, 5);
  EXPECT_EQ(after(speeds, 10, {1, 1, 1})->rank, -1);
}

TEST(LeaseSpeeds, OneThatDoesNotReportIsWaitedFor) {
  LeaseSpeeds speeds(3);
  EXPECT_FALSE(after(speeds, 100, {1, 1})) << "the third may be the slow one";
  for (int step = 0; step < 9; ++step) EXPECT_FALSE(speeds.count(5, 10, 9));
  EXPECT_FALSE(speeds.count(5, 10, 9)) << "once may be chance";
  EXPECT_FALSE(after(speeds, 100, {1, 1}));
  for (int step = 0; step < 9; ++step) EXPECT_FALSE(speeds.count(5, 10, 9));
  EXPECT_EQ(speeds.count(5, 10, 9)->rank, 5);
}

TEST(LeaseSpeeds, OneWorkerIsNoStraggler) {
  LeaseSpeeds speeds(1);
  EXPECT_FALSE(after(speeds, 100, {1}));
}

}  // namespace
}  // namespace trireme::train
