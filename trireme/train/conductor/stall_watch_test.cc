// SPDX-License-Identifier: Apache-2.0
// Who is to blame when nothing moves, from what members say of themselves, in made-up time.
#include "trireme/train/conductor/stall_watch.h"

#include <gmock/gmock.h>

#include "trireme/comm/peer_wait.h"

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::IsEmpty;
using testing::Optional;

using Member = StallWatch::Member;

// Three members whose heartbeats this test makes.
class StallWatchTest : public testing::Test {
 protected:
  void at(std::size_t rank, std::int64_t step, const std::string& phase, int waits_for = comm::PeerWait::kNoPeer) {
    coord::Progress& own = members_[rank].progress;
    own = {.step = step, .phase = phase, .moves = own.moves + 1, .waits_for = waits_for, .generation = 1};
  }
  void pass(double seconds) {
    for (Member& member : members_) member.progress.seconds += seconds;
  }
  // After some heartbeats more.
  std::vector<std::string> stalled_for_sure() {
    stalled();
    pass(2);
    return stalled();
  }
  std::vector<std::string> stalled() {
    std::vector<std::string> out;
    for (const auto& found : watch_.look(members_)) out.push_back(found.node);
    return out;
  }
  // All have done steps in which reading took so long.
  void have_read_for(double seconds) {
    for (std::size_t rank = 0; rank < members_.size(); ++rank) at(rank, 1, "wait");
    stalled();
    pass(seconds);
    stalled();
    for (std::size_t rank = 0; rank < members_.size(); ++rank) at(rank, 1, "compute");
    stalled();
    for (std::size_t rank = 0; rank < members_.size(); ++rank) at(rank, 1, "exchange");
    stalled();
  }

  StallWatch watch_{Seconds(30)};
  std::vector<Member> members_{{"a", {}}, {"b", {}}, {"c", {}}};
};

TEST_F(StallWatchTest, TheOneThatReadsForLongerThanTheLimitWhileOthersWait) {
  have_read_for(0.1);
  at(1, 2, "wait");
  for (const std::size_t rank : {0U, 2U}) at(rank, 2, "exchange", 1);
  pass(29);
  EXPECT_THAT(stalled(), IsEmpty());
  pass(2);
  ASSERT_THAT(stalled_for_sure(), ElementsAre("b"));
  const StallWatch::Stalled found = watch_.look(members_).front();
  EXPECT_EQ(found.doing, "reading data");
  EXPECT_EQ(found.progress.step, 2);
  EXPECT_EQ(found.waiting, 2);
}

TEST_F(StallWatchTest, NoStallWhileNoNodeWaits) {
  have_read_for(0.1);
  for (std::size_t rank = 0; rank < 3; ++rank) at(rank, 2, "wait");
  pass(50);
  EXPECT_THAT(stalled_for_sure(), IsEmpty()) << "all read from the same slow disk";
  at(0, 2, "exchange", 1);
  pass(20);
  EXPECT_THAT(stalled(), IsEmpty()) << "no member has waited for long";
  pass(450);  // a read of 50 s has been seen now
  EXPECT_THAT(stalled_for_sure(), ElementsAre("b", "c"));
}

// All were stopped for an hour together, and go on.
TEST_F(StallWatchTest, WhoMovesAMomentLaterIsNone) {
  have_read_for(0.1);
  at(1, 2, "wait");
  at(0, 2, "exchange", 1);
  pass(3600);
  EXPECT_THAT(stalled(), IsEmpty());
  at(1, 2, "compute");
  EXPECT_THAT(stalled_for_sure(), IsEmpty());
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(30)) << "nor is an hour what a read takes";
}

TEST_F(StallWatchTest, SlowStepsAreNoStall) {
  have_read_for(20);
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(200)) << "ten times the longest so far";
  at(1, 2, "wait");
  for (const std::size_t rank : {0U, 2U}) at(rank, 2, "exchange", 1);
  pass(199);
  EXPECT_THAT(stalled(), IsEmpty());
  pass(2);
  EXPECT_THAT(stalled_for_sure(), ElementsAre("b"));
}

TEST_F(StallWatchTest, TheFirstOfAPhaseMayTakeLonger) {
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(120));
  EXPECT_EQ(watch_.limit_of("compute"), Seconds(240));
  EXPECT_EQ(watch_.limit_of("compile"), Seconds(600)) << "it times algorithms";
  have_read_for(0.1);
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(30));
  EXPECT_EQ(watch_.limit_of("compute"), Seconds(60)) << "a busy machine computes slowly";
}

TEST_F(StallWatchTest, StepsTooShortForHeartbeatsCountAsSeen) {
  at(0, 10, "exchange");
  stalled();
  at(0, 11, "wait");
  stalled();
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(120)) << "it may be the first";
  at(0, 300, "exchange");
  stalled();
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(30));
}

// A training of some milliseconds per step may hang before the second heartbeat.
TEST_F(StallWatchTest, AStepThatIsReportedCountsAsSeenToo) {
  watch_.on_step(Seconds(0.01), Seconds(8));
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(30));
  EXPECT_EQ(watch_.limit_of("compute"), Seconds(80)) << "ten times as long";
  EXPECT_EQ(watch_.limit_of("update"), Seconds(60));
}

TEST_F(StallWatchTest, WhoWaitsForPeersIsNoCulpritHoweverLong) {
  have_read_for(0.1);
  at(0, 2, "exchange", 2);
  at(1, 2, "evaluate", 2);  // in a sum within the evaluation
  at(2, 2, "rendezvous");
  pass(3600);
  EXPECT_THAT(stalled_for_sure(), IsEmpty());
}

TEST_F(StallWatchTest, AStallTeachesNothingOfHowLongAPhaseTakes) {
  have_read_for(0.1);
  at(1, 2, "wait");
  at(0, 2, "exchange", 1);
  pass(1000);
  ASSERT_THAT(stalled_for_sure(), ElementsAre("b"));
  watch_.forget("b");
  at(1, 2, "regroup");
  stalled();
  EXPECT_EQ(watch_.limit_of("wait"), Seconds(30));
}

// a can't reach b, which waits for c, which works.
TEST_F(StallWatchTest, AComplaintIsFollowedToTheOneWhoWorks) {
  at(0, 2, "exchange", 1);
  at(1, 2, "exchange", 2);
  at(2, 2, "wait");
  EXPECT_THAT(StallWatch::awaited(members_, "b"), Optional(Eq("c")));
  EXPECT_THAT(StallWatch::awaited(members_, ""), Optional(Eq("c"))) << "it could not say whom";
}

TEST_F(StallWatchTest, AComplaintAboutOneWhoWorksIsItsOwn) {
  at(0, 2, "exchange", 1);
  at(1, 2, "compute");
  at(2, 2, "wait");
  pass(5);
  EXPECT_THAT(StallWatch::awaited(members_, "b"), Optional(Eq("b")));
}

TEST_F(StallWatchTest, WithoutAnyNodeThatWorksTheReportStands) {
  at(0, 2, "exchange", 1);
  at(1, 2, "exchange", 0);
  at(2, 2, "regroup");
  EXPECT_THAT(StallWatch::awaited(members_, "b"), Optional(Eq("b")));
  EXPECT_FALSE(StallWatch::awaited(members_, ""));
}

}  // namespace
}  // namespace trireme::train
