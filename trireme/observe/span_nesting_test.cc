// SPDX-License-Identifier: Apache-2.0
// Rounded ends are put right, what is nested stays, and what really overlaps gets another row.
#include "trireme/observe/span_nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trireme/base/random.h"

namespace trireme::observe {
namespace {

using std::chrono::nanoseconds;

Extent extent(std::int64_t begin, std::int64_t end) { return {nanoseconds(begin), nanoseconds(end)}; }

std::vector<std::pair<std::int64_t, std::int64_t>> numbers(const std::vector<Extent>& extents) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (const Extent& one : extents) out.emplace_back(one.begin.count(), one.end.count());
  return out;
}

TEST(Nest, LeavesWhatIsRightAsItIs) {
  std::vector<Extent> spans{extent(0, 100), extent(0, 50), extent(50, 100), extent(60, 60), extent(100, 200)};
  const auto before = numbers(spans);
  EXPECT_THAT(nest(spans), testing::Each(0));
  EXPECT_EQ(numbers(spans), before);
  EXPECT_TRUE(nest({}).empty());
}

TEST(Nest, ANeighbourEndsWhereTheNextBeginsWithAllThatIsInIt) {
  std::vector<Extent> spans{extent(0, 10'100), extent(5000, 10'050), extent(10'000, 20'000)};
  EXPECT_THAT(nest(spans), testing::Each(0));
  EXPECT_THAT(numbers(spans), testing::ElementsAre(std::pair(0, 10'000), std::pair(5000, 10'000), std::pair(10'000, 20'000)));
}

TEST(Nest, AChildEndsWithItsParent) {
  std::vector<Extent> spans{extent(0, 10'000), extent(4000, 10'018), extent(9990, 10'005)};
  EXPECT_THAT(nest(spans), testing::Each(0));
  EXPECT_EQ(spans[1].end, nanoseconds(10'000));
  EXPECT_EQ(spans[2].end, nanoseconds(10'000));
}

TEST(Nest, WhatReallyOverlapsGetsARowOfItsOwn) {
  std::vector<Extent> spans{extent(0, 10'000), extent(5000, 15'000), extent(6000, 16'500), extent(15'000, 17'000)};
  EXPECT_THAT(nest(spans), testing::ElementsAre(0, 1, 2, 0));
  EXPECT_EQ(spans[0].end, nanoseconds(10'000));
}

TEST(Nest, OfAnythingNoTwoOfARowOverlap) {
  RandomStream random(7);
  const auto next = [&] { return static_cast<std::int64_t>(random.below(20'000)); };
  std::vector<Extent> spans;
  for (int i = 0; i < 500; ++i) {
    const std::int64_t begin = next();
    spans.push_back(extent(begin, begin + next() / 10));
  }
  std::ranges::stable_sort(spans, comes_first);
  const auto rows = nest(spans);
  for (std::size_t a = 0; a < spans.size(); ++a) {
    EXPECT_LE(spans[a].begin, spans[a].end);
    for (std::size_t b = 0; b < spans.size(); ++b) {
      if (rows[a] != rows[b]) continue;
      const bool overlap = spans[a].begin < spans[b].begin && spans[b].begin < spans[a].end && spans[a].end < spans[b].end;
      EXPECT_FALSE(overlap) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace trireme::observe
