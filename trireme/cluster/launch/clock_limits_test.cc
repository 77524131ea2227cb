// SPDX-License-Identifier: Apache-2.0
// Tests of what is said of a machine's clock.
#include "trireme/cluster/launch/clock_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr double kHour = 3600;

TEST(ClockLimits, AClockWithinThemIsGood) {
  for (const double ahead : {0.0, kHour, -kHour, 29 * 24 * kHour, -5.9 * kHour})
    EXPECT_THAT(clock_fault("h1", ahead, {}), IsEmpty()) << ahead << " s ahead";
}

TEST(ClockLimits, AClockOutsideIsNamedWithWhatToDo) {
  EXPECT_THAT(clock_fault("h2", 3650 * 24 * kHour, {}),
              AllOf(StartsWith("h2: its clock is 3650 days ahead of"), HasSubstr("timedatectl set-ntp true")));
  EXPECT_THAT(clock_fault("h2", -7.5 * kHour, {}), HasSubstr("its clock is 7.5 hours behind"));
  EXPECT_THAT(clock_fault("h2", 90, {.ahead = 75, .behind = 6 * kHour}), HasSubstr("its clock is 90 s ahead of"));
}

}  // namespace
}  // namespace trireme::cluster
