// SPDX-License-Identifier: Apache-2.0
// Generations don't put a checkpoint off; one request at a time.
#include "trireme/train/conductor/checkpoint_clock.h"

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

TEST_F(CheckpointClockTest, WithoutAnIntervalThereAreNone) {
  CheckpointClock never(Seconds(0), time_);
  never.begin_generation();
  pass(1e6);
  EXPECT_FALSE(never.is_due());
}

}  // namespace
}  // namespace trireme::train
