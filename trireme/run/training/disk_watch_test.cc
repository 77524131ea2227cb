// SPDX-License-Identifier: Apache-2.0
// When a disk is said to hang, to move again, and when it is given up, in made-up time.
#include "trireme/run/training/disk_watch.h"

#include <gmock/gmock.h>

namespace trireme::run {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class DiskWatchTest : public testing::Test {
 protected:
  // Lines said in so many seconds, looking every quarter of one.
  std::vector<std::string> lines_in(double seconds, DiskWait wait = DiskWait::training) {
    std::vector<std::string> lines;
    for (const double end = now_ + seconds; now_ < end;) {
      now_ += 0.25;
      const DiskWatch::Verdict verdict = watch_.look(Seconds(now_), wait);
      lines.insert(lines.end(), verdict.lines.begin(), verdict.lines.end());
      gives_up_ |= verdict.gives_up;
    }
    return lines;
  }
  DiskWatch::Id begin(const DiskWrite& write) { return watch_.begin(Seconds(now_), write); }
  void end(DiskWatch::Id id) { watch_.end(Seconds(now_), id); }

  double now_ = 1000;
  bool gives_up_ = false;
  DiskWatch watch_{"/runs/a"};
};

TEST_F(DiskWatchTest, AWriteThatTakesLongIsNamedWithinFiveSeconds) {
  const auto id = begin({.what = "journal"});
  EXPECT_THAT(lines_in(3.75), IsEmpty());
  EXPECT_THAT(lines_in(1),
              ElementsAre(StartsWith("the run directory /runs/a has not taken a write for 4 s (journal): check the disk or mount")));
  EXPECT_THAT(lines_in(5), IsEmpty());
  end(id);
  EXPECT_THAT(lines_in(1), ElementsAre("the run directory /runs/a takes writes again, after 10 s"));
  EXPECT_THAT(lines_in(100), IsEmpty());
}

TEST_F(DiskWatchTest, ManyShortWritesAreNoHang) {
  for (int i = 0; i < 100; ++i) {
    const auto id = begin({.what = "journal"});
    EXPECT_THAT(lines_in(1), IsEmpty());
    end(id);
  }
}

TEST_F(DiskWatchTest, ItIsSaidAgainWheneverItIsTwiceAsLong) {
  begin({.what = "journal"});
  EXPECT_THAT(lines_in(300), ElementsAre(HasSubstr("for 4 s"), HasSubstr("for 14 s"), HasSubstr("for 28 s"), HasSubstr("for 56 s"),
                                         HasSubstr("for 112 s"), HasSubstr("for 224 s")));
  EXPECT_FALSE(gives_up_) << "a training waits for as long as its user does";
}

TEST_F(DiskWatchTest, SeveralWritesAreOneHang) {
  const auto journal = begin({.what = "journal"});
  lines_in(2);
  const auto checkpoint = begin({.what = "checkpoint"});
  EXPECT_THAT(lines_in(12), ElementsAre(HasSubstr("(journal)"), HasSubstr("for 14 s (journal, checkpoint)")));
  end(journal);
  EXPECT_THAT(lines_in(6), IsEmpty());
  end(checkpoint);
  EXPECT_THAT(lines_in(1), ElementsAre(HasSubstr("after 20 s")));
}

TEST_F(DiskWatchTest, ALargeCheckpointMayTakeAsLongAsASlowDiskNeeds) {
  const auto checkpoint = begin({.what = "checkpoint", .bytes = 1'000'000'000});
  EXPECT_THAT(lines_in(53), IsEmpty());
  const auto journal = begin({.what = "journal"});
  EXPECT_THAT(lines_in(4), ElementsAre(HasSubstr("for 54 s (checkpoint)"))) << "whichever is over its limit first";
  end(journal);
  end(checkpoint);
  EXPECT_THAT(lines_in(1), ElementsAre(HasSubstr("again")));
  begin({.what = "checkpoint", .bytes = 1'000'000'000});
  begin({.what = "journal"});
  EXPECT_THAT(lines_in(5), ElementsAre(HasSubstr("for 4 s (journal)"))) << "a small write is named at once";
}

TEST_F(DiskWatchTest, AnInterruptionWaitsTenSecondsForIt) {
  begin({.what = "journal"});
  lines_in(5);
  EXPECT_THAT(lines_in(8, DiskWait::interruption),
              ElementsAre("the run directory /runs/a is waited for up to 10 s; then this process ends without it"));
  lines_in(1.75, DiskWait::interruption);
  EXPECT_FALSE(gives_up_);
  EXPECT_THAT(lines_in(1, DiskWait::interruption),
              Contains(AllOf(HasSubstr("for 15 s (journal): ended without it"), HasSubstr("may be missing"),
                             HasSubstr("trireme train --resume /runs/a"))));
  EXPECT_TRUE(gives_up_);
}

TEST_F(DiskWatchTest, AnInterruptionGivesALargeCheckpointTheTimeOfTheSlowestDisk) {
  begin({.what = "checkpoint", .bytes = 200'000'000});
  lines_in(109, DiskWait::interruption);
  EXPECT_FALSE(gives_up_);
  lines_in(2, DiskWait::interruption);
  EXPECT_TRUE(gives_up_);
}

TEST_F(DiskWatchTest, AnInterruptionOfAGoodDiskIsNotHurried) {
  for (int i = 0; i < 30; ++i) {
    const auto id = begin({.what = "journal"});
    EXPECT_THAT(lines_in(3, DiskWait::interruption), IsEmpty());
    end(id);
  }
  EXPECT_FALSE(gives_up_);
}

TEST_F(DiskWatchTest, TheEndWaitsTenMinutesForIt) {
  begin({.what = "journal"});
  lines_in(599, DiskWait::end);
  EXPECT_FALSE(gives_up_);
  lines_in(2, DiskWait::end);
  EXPECT_TRUE(gives_up_);
}

}  // namespace
}  // namespace trireme::run
