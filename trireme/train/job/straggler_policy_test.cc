// SPDX-License-Identifier: Apache-2.0
// A slow worker is sent away for longer and longer, or no worker waits for it while it lasts.
#include "trireme/train/job/straggler_policy.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

using Rule = StragglerPolicy::Rule;
const std::vector<std::string> kAll{"0", "1", "2"};
const std::vector<std::string> kOthers{"0", "2"};

TEST(StragglerPolicy, SharesLeaveAllWorkersIn) {
  FakeClock clock;
  StragglerPolicy policy(Rule::shares, clock);
  EXPECT_FALSE(policy.slow("1"));
  EXPECT_FALSE(policy.is_out("1"));
  EXPECT_FALSE(policy.wants_async());
  EXPECT_FALSE(policy.nobody(kAll));
  EXPECT_TRUE(policy.nobody(kAll)) << "it is over";
  EXPECT_FALSE(policy.nobody(kAll)) << "reported already";
}

TEST(StragglerPolicy, DropTakesBackAfterAPauseThatDoublesToTenMinutes) {
  FakeClock clock;
  StragglerPolicy policy(Rule::drop, clock);
  for (const double pause : {30.0, 60.0, 120.0, 240.0, 480.0, 600.0, 600.0}) {
    EXPECT_TRUE(policy.slow("1"));
    EXPECT_EQ(policy.pause("1"), Seconds(pause));
    clock.advance(Seconds(pause - 0.1));
    EXPECT_TRUE(policy.is_out("1")) << pause;
    EXPECT_FALSE(policy.is_out("0"));
    clock.advance(Seconds(0.2));
    EXPECT_FALSE(policy.is_out("1")) << pause;
  }
  EXPECT_FALSE(policy.wants_async());
}

TEST(StragglerPolicy, ALateReportOfOneThatIsOutDoesNotPunishTwice) {
  FakeClock clock;
  StragglerPolicy policy(Rule::drop, clock);
  EXPECT_TRUE(policy.slow("1"));
  EXPECT_FALSE(policy.slow("1"));
  clock.advance(Seconds(31));
  EXPECT_FALSE(policy.is_out("1"));
}

TEST(StragglerPolicy, OneThatCameBackAndIsFastIsForgiven) {
  FakeClock clock;
  StragglerPolicy policy(Rule::drop, clock);
  policy.slow("1");
  policy.nobody(kOthers);  // without it
  policy.nobody(kOthers);
  clock.advance(Seconds(31));
  policy.nobody(kOthers);  // not yet back
  policy.nobody(kAll);
  EXPECT_EQ(policy.pause("1"), Seconds(30)) << "one measurement may be chance";
  policy.nobody(kAll);
  EXPECT_EQ(policy.pause("1"), Seconds(0));
  policy.slow("1");
  EXPECT_EQ(policy.pause("1"), Seconds(30)) << "as if for the first time";
}

TEST(StragglerPolicy, EachNodeHasItsOwnPause) {
  FakeClock clock;
  StragglerPolicy policy(Rule::drop, clock);
  policy.slow("1");
  clock.advance(Seconds(31));
  policy.slow("1");
  policy.slow("2");
  EXPECT_EQ(policy.pause("1"), Seconds(60));
  EXPECT_EQ(policy.pause("2"), Seconds(30));
}

TEST(StragglerPolicy, AsyncLastsUntilTwoMeasurementsInARowFindNone) {
  FakeClock clock;
  StragglerPolicy policy(Rule::async, clock);
  EXPECT_FALSE(policy.nobody(kAll));
  EXPECT_TRUE(policy.slow("1"));
  EXPECT_FALSE(policy.slow("1")) << "it is so already";
  EXPECT_TRUE(policy.wants_async());
  EXPECT_FALSE(policy.nobody(kAll));
  EXPECT_FALSE(policy.slow("1")) << "it lasts";
  EXPECT_FALSE(policy.nobody(kAll));
  EXPECT_TRUE(policy.wants_async());
  EXPECT_TRUE(policy.nobody(kAll));
  EXPECT_FALSE(policy.wants_async());
  EXPECT_FALSE(policy.is_out("1"));
}

TEST(StragglerPolicy, NamesAreRules) {
  EXPECT_EQ(straggler_rule("shares"), Rule::shares);
  EXPECT_EQ(straggler_rule("drop"), Rule::drop);
  EXPECT_EQ(straggler_rule("async"), Rule::async);
}

}  // namespace
}  // namespace trireme::train
