// SPDX-License-Identifier: Apache-2.0
// A slow worker is named, a moment's load is not.
#include "trireme/train/lease_speeds.h"

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
  LeaseSpeeds speeds;
  EXPECT_FALSE(after(speeds, 10, {1, 1.1, 4})) << "once may be chance";
  const auto found = after(speeds, 10, {1, 1.1, 4});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 5);
  EXPECT_NEAR(found->slowness, 4 / 1.1, 0.5);
  EXPECT_NEAR(found->share, 1.0 / 3, 1e-9);
}

TEST(LeaseSpeeds, AMomentsLoadIsForgotten) {
  LeaseSpeeds speeds;
  EXPECT_FALSE(after(speeds, 10, {1, 1, 4}));
  EXPECT_FALSE(after(speeds, 10, {1, 1, 1}));
  EXPECT_FALSE(after(speeds, 10, {1, 1, 4}));
}

TEST(LeaseSpeeds, OneWorkerIsNoStraggler) {
  LeaseSpeeds speeds;
  EXPECT_FALSE(after(speeds, 100, {1}));
}

}  // namespace
}  // namespace trireme::train
