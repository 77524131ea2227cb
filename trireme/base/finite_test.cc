// SPDX-License-Identifier: Apache-2.0
// One bad value among many is found, wherever it is.
#include "trireme/base/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace trireme {
namespace {

using Limits = std::numeric_limits<float>;

TEST(Finite, OneBadValueIsFoundAtEveryPlace) {
  for (const float bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    for (const std::size_t size : {1U, 7U, 16U, 100U}) {
      for (std::size_t place = 0; place < size; ++place) {
        std::vector<float> values(size, -1.5F);
        EXPECT_TRUE(are_finite(values));
        values[place] = bad;
        EXPECT_FALSE(are_finite(values)) << bad << " at " << place << " of " << size;
        EXPECT_EQ(largest_magnitude(values), Limits::infinity());
      }
    }
  }
}

TEST(Finite, TheLargestNumbersAreNumbers) {
  EXPECT_TRUE(are_finite(std::vector<float>{Limits::max(), -Limits::max(), Limits::denorm_min(), 0.0F, -0.0F}));
  EXPECT_TRUE(are_finite({}));
  EXPECT_EQ(largest_magnitude(std::vector<float>{1, -3, 2}), 3);
}

}  // namespace
}  // namespace trireme
