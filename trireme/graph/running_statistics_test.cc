// SPDX-License-Identifier: Apache-2.0
// Tests of the weights with which batches enter the running statistics.
#include "trireme/graph/running_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace trireme::graph {
namespace {

// After these batches, beginning with `updates` behind a mean of `start`.
StatisticsUpdate follow(double momentum, const std::vector<double>& batches, double& mean, float updates = 0) {
  StatisticsUpdate last{.updates = updates};
  for (const double batch : batches) {
    last = next_update(momentum, last.updates);
    mean = last.kept * mean + (1 - last.kept) * batch;
  }
  return last;
}

TEST(RunningStatistics, TheFirstBatchIsCopied) {
  for (const double momentum : {0.0, 0.5, 0.9, 0.99, 1.0}) {
    double mean = 1234;
    follow(momentum, {7}, mean);
    EXPECT_EQ(mean, 7) << momentum;
  }
}

TEST(RunningStatistics, AreTheMeanOfAllBatchesAtFirst) {
  double mean = 0;
  EXPECT_EQ(follow(0.99, {1, 2, 3, 10}, mean).updates, 4);
  EXPECT_DOUBLE_EQ(mean, 4);
}

TEST(RunningStatistics, ThenMoveWithTheMomentumAndCountNoFurther) {
  double mean = 0;
  const StatisticsUpdate last = follow(0.75, {1, 2, 3, 6, 7, 7, 7}, mean);
  EXPECT_EQ(last.updates, 4);
  EXPECT_EQ(last.kept, 0.75);
  double wanted = 3;  // of the first four
  for (int i = 0; i < 3; ++i) wanted = 0.75 * wanted + 0.25 * 7;
  EXPECT_DOUBLE_EQ(mean, wanted);
}

TEST(RunningStatistics, AreThePlainMovingMeanAfterMany) {
  for (const double momentum : {0.0, 0.5, 0.9, 0.99, 0.999}) EXPECT_EQ(next_update(momentum, kManyUpdates).kept, momentum);
  EXPECT_EQ(next_update(0, kManyUpdates).updates, 1);
  EXPECT_EQ(next_update(0.99, kManyUpdates).updates, 100);
  EXPECT_EQ(next_update(0.9, kManyUpdates).updates, 10);
  EXPECT_EQ(next_update(1, kManyUpdates).updates, kManyUpdates);
}

// Where the count ends no batch weighs more or less than it would without an end.
TEST(RunningStatistics, ReachTheMomentumBeforeTheCountEnds) {
  for (const double momentum : {0.0, 0.3, 0.5, 0.9, 0.99, 0.999}) {
    StatisticsUpdate last;
    for (int n = 1; n < 1100; ++n) {
      last = next_update(momentum, last.updates);
      ASSERT_EQ(last.kept, std::min(momentum, (n - 1.0) / n)) << momentum << ", update " << n;
    }
  }
}

// An average over workers.
TEST(RunningStatistics, RoundTheCount) {
  for (const float averaged : {2.9999998F, 3.0F, 3.0000002F, 3.4F}) {
    EXPECT_EQ(next_update(0.99, averaged).kept, 0.75) << averaged;
    EXPECT_EQ(next_update(0.99, averaged).updates, 4) << averaged;
  }
}

}  // namespace
}  // namespace trireme::graph
