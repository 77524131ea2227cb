// SPDX-License-Identifier: Apache-2.0
// Tests of counter-based random numbers: fixed values, ranges, moments.
#include "trireme/base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace trireme {
namespace {

// A change of these numbers changes every recorded run.
TEST(Random, ValuesAreFixedForever) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);  // splitmix64's first output for seed 0
  EXPECT_EQ(random_bits(0, 0), 0U);
  EXPECT_EQ(random_bits(1, 2), random_bits(3, 0));
  static_assert(combine(1, 2) != combine(2, 1));
  static_assert(hash_text("ab") != hash_text("ba"));
}

TEST(Random, StreamsDependOnlyOnTheirKey) {
  RandomStream a(7);
  RandomStream b(7);
  RandomStream c(8);
  const double first = a.uniform();
  EXPECT_EQ(first, b.uniform());
  EXPECT_NE(first, c.uniform());
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  RandomStream random(1);
  constexpr int kCount = 100000;
  double sum = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform(-1, 3);
    ASSERT_GE(u, -1);
    ASSERT_LT(u, 3);
    sum += u;
    const double z = random.normal();
    normal_sum += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / kCount, 1, 0.02);
  EXPECT_NEAR(normal_sum / kCount, 0, 0.02);
  EXPECT_NEAR(normal_squares / kCount, 1, 0.02);
}

TEST(Random, BelowReachesEveryValue) {
  RandomStream random(3);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.below(5));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(Random, BitsOfNeighboursAreBalanced) {
  int high = 0;
  for (std::uint32_t i = 0; i < 10000; ++i) high += random_bits(12345, i) >= 0x80000000U ? 1 : 0;
  EXPECT_NEAR(high, 5000, 200);
}

}  // namespace
}  // namespace trireme
