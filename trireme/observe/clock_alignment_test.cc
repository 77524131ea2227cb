// SPDX-License-Identifier: Apache-2.0
// Clocks of nodes: left alone while nothing contradicts them, moved by as little as messages ask for.
#include "trireme/observe/clock_alignment.h"

#include <gtest/gtest.h>

#include <array>

namespace trireme::observe {
namespace {

// Messages that take 1 ms each, between nodes whose clocks are wrong by these seconds.
ClockAlignment world(const std::array<double, 3>& wrong) {
  ClockAlignment alignment;
  int number = 0;
  for (int step = 0; step < 5; ++step)
    for (const int from : {0, 1, 2})
      for (const int to : {0, 1, 2}) {
        if (from == to) continue;
        const std::string id = std::to_string(++number);
        const double time = 100 + step;
        alignment.sent(id, from, time + wrong[static_cast<std::size_t>(from)]);
        alignment.received(id, to, time + 0.001 + wrong[static_cast<std::size_t>(to)]);
      }
  return alignment;
}

TEST(ClockAlignment, LeavesClocksAloneThatContradictNothing) {
  for (const auto& [node, shift] : world({0, 0.0005, -0.0003}).shifts()) EXPECT_EQ(shift, 0) << node;
}

TEST(ClockAlignment, MovesAClockSoThatNothingArrivesBeforeItWasSent) {
  for (const std::array<double, 3>& wrong : {std::array<double, 3>{0, 0.005, 0}, {0, -0.005, 0.004}, {0.01, 0, 0.003}}) {
    const auto shifts = world(wrong).shifts();
    EXPECT_EQ(shifts.at(0), 0);
    for (const int from : {0, 1, 2})
      for (const int to : {0, 1, 2}) {
        const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
        EXPECT_GE(0.001 + wrong[b] + shifts.at(to) - wrong[a] - shifts.at(from), -1e-9) << from << " to " << to;
      }
  }
}

TEST(ClockAlignment, LetsNothingArriveInTheMomentItWasSent) {
  for (const double seen : {-0.004, 0.0}) {  // what the clocks say that the message took
    ClockAlignment alignment;
    alignment.sent("a", 0, 7);
    alignment.received("a", 1, 7 + seen);
    const auto shifts = alignment.shifts();
    EXPECT_NEAR(seen + shifts.at(1) - shifts.at(0), 1e-9, 1e-14) << seen;
  }
}

TEST(ClockAlignment, CountsAMessageOnlyWithBothEnds) {
  ClockAlignment alignment;
  alignment.sent("a", 0, 5);
  alignment.received("b", 1, 1);
  EXPECT_FALSE(alignment.is_complete("a"));
  EXPECT_FALSE(alignment.is_complete("b"));
  EXPECT_FALSE(alignment.is_complete("c"));
  EXPECT_TRUE(alignment.shifts().empty());
  alignment.received("a", 1, 6);
  EXPECT_TRUE(alignment.is_complete("a"));
}

}  // namespace
}  // namespace trireme::observe
