// SPDX-License-Identifier: Apache-2.0
// Tests of loops over the cores: every index once, ranges not too short.
#include "trireme/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace trireme {
namespace {

class ParallelRanges : public testing::TestWithParam<int> {};

TEST_P(ParallelRanges, VisitsEveryIndexOnce) {
  const ThreadScope threads(GetParam());
  for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
    parallel_ranges(count, 3, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (const auto& visit : visits) EXPECT_EQ(visit, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelRanges, testing::Values(1, 2, 3, 8));

TEST(ThreadScope, RestoresTheNumberOfThreads) {
  const int before = omp_get_max_threads();
  {
    const ThreadScope threads(before + 3);
    EXPECT_EQ(omp_get_max_threads(), before + 3);
  }
  EXPECT_EQ(omp_get_max_threads(), before);
}

}  // namespace
}  // namespace trireme
