// SPDX-License-Identifier: Apache-2.0
// Pauses grow, progress resets them, and a node that fails too often is left out.
#include "trireme/train/conductor/node_table.h"

#include <gmock/gmock.h>

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodeTableTest : public testing::Test {
 protected:
  void comes(const std::string& node) {
    table_.at(node).on_joined({.host = "h" + node});
    table_.at(node).on_ready();
  }
  void dies(const std::string& node) {
    EXPECT_TRUE(table_.at(node).on_lost(clock_.now()));
    table_.at(node).on_process_ended(clock_.now());
  }

  FakeClock clock_;
  NodeTable table_{{.nodes = {"0", "1", "10"}, .restarts = 3, .startable = {"0", "1", "10"}}, clock_};
};

TEST_F(NodeTableTest, MembersAreInOrderOfRanksHoweverTheyCame) {
  EXPECT_THAT(table_.due(), ElementsAre("0", "1", "10"));
  for (const char* node : {"10", "1", "0"}) comes(node);
  EXPECT_THAT(table_.available(), ElementsAre("0", "1", "10"));
  EXPECT_THAT(table_.due(), IsEmpty());
}

TEST_F(NodeTableTest, PausesDoubleUntilItIsLeftOut) {
  for (const double pause : {1.0, 2.0, 4.0}) {
    table_.at("1").on_launched();
    comes("1");
    dies("1");
    clock_.advance(Seconds(pause - 0.1));
    EXPECT_THAT(table_.due(), testing::Not(testing::Contains("1"))) << pause;
    clock_.advance(Seconds(0.2));
    EXPECT_THAT(table_.due(), testing::Contains("1")) << pause;
  }
  table_.at("1").on_launched();
  comes("1");
  dies("1");
  clock_.advance(Seconds(1000));
  EXPECT_TRUE(table_.is_left_out("1"));
  EXPECT_THAT(table_.due(), testing::Not(testing::Contains("1")));
}

TEST_F(NodeTableTest, ADeathBeforeItCameCountsOnce) {
  table_.at("1").on_launched();
  table_.at("1").on_process_ended(clock_.now());
  EXPECT_EQ(table_.at("1").failures, 1);
  table_.at("1").on_launched();
  comes("1");
  table_.at("1").on_process_ended(clock_.now());  // its exit is seen before its connection breaks
  EXPECT_TRUE(table_.at("1").on_lost(clock_.now()));
  EXPECT_FALSE(table_.at("1").on_lost(clock_.now()));
  EXPECT_EQ(table_.at("1").failures, 2);
}

TEST_F(NodeTableTest, OneThatIsLeftOutIsWelcomeIfItComesByItself) {
  for (int i = 0; i < 4; ++i) {
    comes("1");
    dies("1");
    clock_.advance(Seconds(100));
  }
  EXPECT_TRUE(table_.is_left_out("1"));
  comes("1");
  EXPECT_FALSE(table_.is_left_out("1"));
  EXPECT_THAT(table_.available(), ElementsAre("1"));
}

TEST_F(NodeTableTest, AMachineThatCannotBeReachedIsTriedAgainAndAgain) {
  for (int i = 0; i < 10; ++i) {
    table_.at("1").on_launched();
    table_.at("1").on_process_ended(clock_.now());
    clock_.advance(Seconds(61));
    EXPECT_THAT(table_.due(), testing::Contains("1"));
  }
}

TEST_F(NodeTableTest, ProgressForgives) {
  comes("1");
  dies("1");
  clock_.advance(Seconds(2));
  table_.at("1").on_launched();
  comes("1");
  table_.assign_ranks({"1"});
  table_.on_progress();
  dies("1");
  EXPECT_EQ(table_.at("1").failures, 1);
}

TEST_F(NodeTableTest, OneThatIsSilentIsNotStartedWhileItsProcessLives) {
  table_.at("1").on_launched();
  comes("1");
  EXPECT_TRUE(table_.at("1").on_lost(clock_.now()));
  clock_.advance(Seconds(100));
  EXPECT_THAT(table_.due(), testing::Not(testing::Contains("1")));
}

TEST_F(NodeTableTest, OneThatTheOthersCannotWorkWithComesBackAfterAPause) {
  comes("0");
  comes("1");
  table_.at("1").pause(clock_.now());
  EXPECT_THAT(table_.available(), ElementsAre("0"));
  clock_.advance(Seconds(1.1));
  EXPECT_THAT(table_.available(), ElementsAre("0", "1"));
}

}  // namespace
}  // namespace trireme::train
