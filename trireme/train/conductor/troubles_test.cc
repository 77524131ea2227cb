// SPDX-License-Identifier: Apache-2.0
// Who is believed, and when it is time to act.
#include "trireme/train/conductor/troubles.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(Troubles, ADeadNodeIsActedOnSoonAndTheBestCauseWins) {
  FakeClock clock;
  Troubles troubles(Seconds(5), clock);
  EXPECT_FALSE(troubles.any());
  troubles.blame("1", {.certainty = Blame::Certainty::lost, .cause = "connection closed", .progress = {.step = 12, .phase = "exchange"}});
  troubles.blame("1", {.certainty = Blame::Certainty::process_ended, .cause = "killed by SIGKILL"});
  troubles.blame("1", {.certainty = Blame::Certainty::lost, .cause = "late news"});
  EXPECT_TRUE(troubles.any());
  EXPECT_FALSE(troubles.are_due()) << "another may have died at the same time";
  clock.advance(Seconds(0.5));
  EXPECT_TRUE(troubles.are_due());
  ASSERT_EQ(troubles.blames().size(), 1U);
  EXPECT_EQ(troubles.blames().at("1").cause, "killed by SIGKILL");
  EXPECT_EQ(troubles.blames().at("1").progress.step, 12) << "where it was is known from before";
  troubles.clear();
  EXPECT_FALSE(troubles.any());
}

TEST(Troubles, OneThatIsOnlyMissedIsGivenTimeToBeFoundDead) {
  FakeClock clock;
  Troubles troubles(Seconds(5), clock);
  troubles.complain({.by = "0", .about = "2"});
  troubles.complain({.by = "1", .about = "0"});  // it only heard of the first
  clock.advance(Seconds(5.5));
  EXPECT_FALSE(troubles.are_due());
  EXPECT_EQ(troubles.first_complaint()->about, "2");
  clock.advance(Seconds(1));
  EXPECT_TRUE(troubles.are_due());
}

TEST(Troubles, WhoIsFoundDeadMeanwhileShortensTheWait) {
  FakeClock clock;
  Troubles troubles(Seconds(5), clock);
  troubles.complain({.by = "0", .about = "2"});
  clock.advance(Seconds(4));
  troubles.blame("2", {.certainty = Blame::Certainty::lost});
  clock.advance(Seconds(0.4));
  EXPECT_TRUE(troubles.are_due());
}

}  // namespace
}  // namespace trireme::train
