// SPDX-License-Identifier: Apache-2.0
// A permutation has every sample once, depends on seed and epoch only, and is spread evenly.
#include "trireme/data/source/permutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace trireme::data {
namespace {

TEST(Permutation, HasEverySampleOnce) {
  std::vector<std::int64_t> order = epoch_permutation(1000, 1, 2);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<std::int64_t>(i));
}

TEST(Permutation, DependsOnSeedAndEpochOnly) {
  EXPECT_EQ(epoch_permutation(100, 1, 2), epoch_permutation(100, 1, 2));
  EXPECT_NE(epoch_permutation(100, 1, 2), epoch_permutation(100, 1, 3));
  EXPECT_NE(epoch_permutation(100, 1, 2), epoch_permutation(100, 2, 2));
}

// Recorded once: another order would make old runs impossible to repeat.
TEST(Permutation, StaysAsItWas) { EXPECT_THAT(epoch_permutation(8, 42, 0), testing::ElementsAre(5, 2, 7, 4, 1, 6, 3, 0)); }

TEST(Permutation, SmallSets) {
  EXPECT_TRUE(epoch_permutation(0, 1, 1).empty());
  EXPECT_THAT(epoch_permutation(1, 1, 1), testing::ElementsAre(0));
}

TEST(Permutation, EverySampleComesEverywhere) {
  std::vector<int> seen(25);
  for (std::int64_t epoch = 0; epoch < 5000; ++epoch) {
    const auto order = epoch_permutation(5, 3, epoch);
    for (std::size_t place = 0; place < 5; ++place) ++seen[place * 5 + static_cast<std::size_t>(order[place])];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace trireme::data
