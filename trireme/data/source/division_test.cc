// SPDX-License-Identifier: Apache-2.0
// Division of batches: exact for any numbers.
#include "trireme/data/source/division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace trireme::data {
namespace {

std::vector<std::int64_t> sizes(std::int64_t samples, const std::vector<double>& shares) {
  std::vector<std::int64_t> out;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) out.push_back(part_of(samples, shares, static_cast<std::int64_t>(rank)).size());
  return out;
}

TEST(Division, GivesEqualWorkersEqualPartsWhereItCan) {
  EXPECT_THAT(sizes(128, {1, 1}), testing::ElementsAre(64, 64));
  EXPECT_THAT(sizes(129, {1, 1, 1}), testing::ElementsAre(43, 43, 43));
  EXPECT_THAT(sizes(128, {1, 1, 1}), testing::ElementsAre(43, 42, 43));
}

TEST(Division, FollowsTheShares) { EXPECT_THAT(sizes(100, {3, 1, 1}), testing::ElementsAre(60, 20, 20)); }

TEST(Division, GivesSomeNothingWhenThereAreFewerSamplesThanWorkers) {
  const auto parts = sizes(2, {1, 1, 1, 1, 1});
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), 2);
}

TEST(Division, PartsFollowEachOtherForAnyNumbers) {
  const std::vector<double> shares{0.1, 7.3, 1e-9, 2.0 / 3, 0.1, 5};
  for (std::int64_t samples = 0; samples < 300; ++samples) {
    std::int64_t next = 0;
    for (std::int64_t rank = 0; rank < 6; ++rank) {
      const Range part = part_of(samples, shares, rank);
      ASSERT_EQ(part.begin, next);
      ASSERT_GE(part.size(), 0);
      next = part.end;
    }
    ASSERT_EQ(next, samples);
  }
}

}  // namespace
}  // namespace trireme::data
