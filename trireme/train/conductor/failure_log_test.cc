// SPDX-License-Identifier: Apache-2.0
// Which evidence counts, and when it is time to act.
#include "trireme/train/conductor/failure_log.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(FailureLog, ADeadNodeIsActedOnSoonAndTheBestCauseWins) {
  FakeClock clock;
  FailureLog log(Seconds(5), clock);
  EXPECT_FALSE(log.any());
  log.add("1", {.evidence = Failure::Evidence::lost, .cause = "connection closed", .progress = {.step = 12, .phase = "exchange"}});
  log.add("1", {.evidence = Failure::Evidence::process_ended, .cause = "killed by SIGKILL"});
  log.add("1", {.evidence = Failure::Evidence::lost, .cause = "a late report"});
  EXPECT_TRUE(log.any());
  EXPECT_FALSE(log.is_due()) << "another may have died at the same time";
  clock.advance(Seconds(0.5));
  EXPECT_TRUE(log.is_due());
  ASSERT_EQ(log.failures().size(), 1U);
  EXPECT_EQ(log.failures().at("1").cause, "killed by SIGKILL");
  EXPECT_EQ(log.failures().at("1").progress.step, 12) << "where it was is known from before";
  log.clear();
  EXPECT_FALSE(log.any());
}

TEST(FailureLog, OneThatIsOnlyMissedIsGivenTimeToBeFoundDead) {
  FakeClock clock;
  FailureLog log(Seconds(5), clock);
  log.add(PeerReport{.by = "0", .about = "2"});
  log.add(PeerReport{.by = "1", .about = "0"});  // it was only the first one's effect
  clock.advance(Seconds(5.5));
  EXPECT_FALSE(log.is_due());
  EXPECT_EQ(log.first_peer_report()->about, "2");
  clock.advance(Seconds(1));
  EXPECT_TRUE(log.is_due());
}

TEST(FailureLog, WhoIsFoundDeadMeanwhileShortensTheWait) {
  FakeClock clock;
  FailureLog log(Seconds(5), clock);
  log.add(PeerReport{.by = "0", .about = "2"});
  clock.advance(Seconds(4));
  log.add("2", {.evidence = Failure::Evidence::lost});
  clock.advance(Seconds(0.4));
  EXPECT_TRUE(log.is_due());
}

}  // namespace
}  // namespace trireme::train
