// SPDX-License-Identifier: Apache-2.0
// Generations don't put a checkpoint off; one request at a time.
#include "trireme/train/checkpoint/checkpoint_clock.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

class CheckpointClockTest : public testing::Test {
 protected:
  void pass(double seconds) { time_.advance(Seconds(seconds)); }

  FakeClock time_;
  CheckpointClock clock_{Seconds(5), time_};
};

TEST_F(CheckpointClockTest, IsNotDueBeforeTheTrainingBegins) {
  pass(100);
  EXPECT_FALSE(clock_.is_due());
  clock_.begin_generation();
  EXPECT_FALSE(clock_.is_due());
  pass(5);
  EXPECT_TRUE(clock_.is_due());
}

TEST_F(CheckpointClockTest, GenerationsDontPutItOff) {
  clock_.begin_generation();
  pass(3);
  clock_.begin_generation();
  pass(1.5);
  clock_.begin_generation();
  EXPECT_FALSE(clock_.is_due());
  pass(0.5);
  EXPECT_TRUE(clock_.is_due());
}

TEST_F(CheckpointClockTest, ARequestUnderWayIsNotRepeated) {
  clock_.begin_generation();
  pass(5);
  clock_.request();
  EXPECT_FALSE(clock_.is_due());
  pass(4);
  EXPECT_FALSE(clock_.is_due());
  clock_.on_written();
  pass(4.9);
  EXPECT_FALSE(clock_.is_due()) << "it counts from the one that was written";
  pass(0.2);
  EXPECT_TRUE(clock_.is_due());
}

TEST_F(CheckpointClockTest, ARequestThatWasLostWithItsGenerationIsRepeatedAtOnce) {
  clock_.begin_generation();
  pass(5);
  clock_.request();
  clock_.begin_generation();
  EXPECT_TRUE(clock_.is_due());
}

TEST_F(CheckpointClockTest, OneThatWasNotKeptIsTriedAgainAfterAnInterval) {
  clock_.begin_generation();
  pass(5);
  clock_.request();
  pass(4.9);
  EXPECT_FALSE(clock_.is_due());
  pass(0.2);
  EXPECT_TRUE(clock_.is_due());
}

TEST_F(CheckpointClockTest, OneThatTheDiskRefusedIsTriedAgainAfterAGrowingPauseAndNeverLaterThanDue) {
  CheckpointClock hourly(Seconds(3600), time_);
  hourly.begin_generation();
  pass(3600);
  for (const double pause : {5, 10, 20, 40, 60, 60}) {
    ASSERT_TRUE(hourly.is_due()) << pause;
    hourly.request();
    hourly.on_failed();
    pass(pause - 0.1);
    EXPECT_FALSE(hourly.is_due()) << pause;
    pass(0.2);
  }
  hourly.on_written();
  pass(3599);
  EXPECT_FALSE(hourly.is_due());
  pass(2);
  EXPECT_TRUE(hourly.is_due());

  CheckpointClock often(Seconds(1), time_);
  often.begin_generation();
  for (int failures = 0; failures < 3; ++failures) {
    often.on_failed();
    pass(1.1);
    EXPECT_TRUE(often.is_due());
  }
}

TEST_F(CheckpointClockTest, WithoutAnIntervalThereAreNone) {
  CheckpointClock never(Seconds(0), time_);
  never.begin_generation();
  pass(1e6);
  EXPECT_FALSE(never.is_due());
}

}  // namespace
}  // namespace trireme::train
