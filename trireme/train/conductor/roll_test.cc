// SPDX-License-Identifier: Apache-2.0
// Pauses grow, progress forgives, and who fails too often is left out.
#include "trireme/train/conductor/roll.h"

#include <gmock/gmock.h>

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RollTest : public testing::Test {
 protected:
  void comes(const std::string& node) {
    roll_.came(node, {.host = "h" + node});
    roll_.ready(node);
  }
  void dies(const std::string& node) {
    EXPECT_TRUE(roll_.went(node));
    roll_.process_ended(node);
  }

  FakeClock clock_;
  Roll roll_{{.nodes = {"0", "1", "10"}, .restarts = 3, .startable = {"0", "1", "10"}}, clock_};
};

TEST_F(RollTest, MembersAreInOrderOfRanksHoweverTheyCame) {
  EXPECT_THAT(roll_.due(), ElementsAre("0", "1", "10"));
  for (const char* node : {"10", "1", "0"}) comes(node);
  EXPECT_THAT(roll_.available(), ElementsAre("0", "1", "10"));
  EXPECT_THAT(roll_.due(), IsEmpty());
}

TEST_F(RollTest, PausesDoubleUntilItIsLeftOut) {
  for (const double pause : {1.0, 2.0, 4.0}) {
    roll_.launched("1");
    comes("1");
    dies("1");
    clock_.advance(Seconds(pause - 0.1));
    EXPECT_THAT(roll_.due(), testing::Not(testing::Contains("1"))) << pause;
    clock_.advance(Seconds(0.2));
    EXPECT_THAT(roll_.due(), testing::Contains("1")) << pause;
  }
  roll_.launched("1");
  comes("1");
  dies("1");
  clock_.advance(Seconds(1000));
  EXPECT_TRUE(roll_.is_left_out("1"));
  EXPECT_THAT(roll_.due(), testing::Not(testing::Contains("1")));
}

TEST_F(RollTest, ADeathBeforeItCameCountsOnce) {
  roll_.launched("1");
  roll_.process_ended("1");
  EXPECT_EQ(roll_.failures("1"), 1);
  roll_.launched("1");
  comes("1");
  roll_.process_ended("1");  // its exit is seen before its connection breaks
  EXPECT_TRUE(roll_.went("1"));
  EXPECT_FALSE(roll_.went("1"));
  EXPECT_EQ(roll_.failures("1"), 2);
}

TEST_F(RollTest, OneThatIsLeftOutIsWelcomeIfItComesByItself) {
  for (int i = 0; i < 4; ++i) {
    comes("1");
    dies("1");
    clock_.advance(Seconds(100));
  }
  EXPECT_TRUE(roll_.is_left_out("1"));
  comes("1");
  EXPECT_FALSE(roll_.is_left_out("1"));
  EXPECT_THAT(roll_.available(), ElementsAre("1"));
}

TEST_F(RollTest, AMachineThatCannotBeReachedIsTriedAgainAndAgain) {
  for (int i = 0; i < 10; ++i) {
    roll_.launched("1");
    roll_.process_ended("1");
    clock_.advance(Seconds(61));
    EXPECT_THAT(roll_.due(), testing::Contains("1"));
  }
}

TEST_F(RollTest, ProgressForgives) {
  comes("1");
  dies("1");
  clock_.advance(Seconds(2));
  roll_.launched("1");
  comes("1");
  roll_.progressed("1");
  dies("1");
  EXPECT_EQ(roll_.failures("1"), 1);
}

TEST_F(RollTest, OneThatIsSilentIsNotStartedWhileItsProcessLives) {
  roll_.launched("1");
  comes("1");
  EXPECT_TRUE(roll_.went("1"));
  clock_.advance(Seconds(100));
  EXPECT_THAT(roll_.due(), testing::Not(testing::Contains("1")));
}

TEST_F(RollTest, OneThatTheOthersCannotWorkWithComesBackAfterAPause) {
  comes("0");
  comes("1");
  roll_.exclude("1");
  EXPECT_THAT(roll_.available(), ElementsAre("0"));
  clock_.advance(Seconds(1.1));
  EXPECT_THAT(roll_.available(), ElementsAre("0", "1"));
}

}  // namespace
}  // namespace trireme::train
