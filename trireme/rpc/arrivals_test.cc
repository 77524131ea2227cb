// SPDX-License-Identifier: Apache-2.0
// Tests of the book of arrivals.
#include "trireme/rpc/arrivals.h"

#include <gmock/gmock.h>

#include <vector>

namespace trireme::rpc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ArrivalsTest : testing::Test {
  FakeClock clock;
  std::vector<std::string> lines;
  Arrivals arrivals{
      [this](const std::string& line) { lines.push_back(line); }, clock, {.patience = Seconds{6}, .each_second = 10, .at_once = 20}};
};

TEST_F(ArrivalsTest, WhoMakesACallIsNotMentioned) {
  arrivals.admit("10.0.0.1", "4711");
  arrivals.admit("fd00::2", "4711");
  arrivals.proven("ipv4:10.0.0.1:4711");
  arrivals.proven("ipv6:%5Bfd00::2%5D:4711");
  clock.advance(Seconds{7});
  arrivals.look();
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(ArrivalsTest, StrangersAreReportedInOneLine) {
  for (int port = 1; port <= 15; ++port) arrivals.admit("10.0.0.9", std::to_string(port));
  clock.advance(Seconds{5});
  arrivals.look();
  EXPECT_THAT(lines, IsEmpty());
  clock.advance(Seconds{2});
  arrivals.look();
  clock.advance(Seconds{2});
  arrivals.look();
  EXPECT_THAT(lines, ElementsAre("10.0.0.9:1 connected to the coordinator's port and did not show a certificate of this job",
                                 "(14 more like that)"));
}

TEST_F(ArrivalsTest, AFloodFromOneHostLeavesRoomForOthers) {
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) admitted += arrivals.admit("10.0.0.9", std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(admitted, 20);
  EXPECT_TRUE(arrivals.admit("10.0.0.1", "1"));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("10.0.0.9:20 connects too often")));
  clock.advance(Seconds{1});
  for (int i = 0; i < 1000; ++i) admitted += arrivals.admit("10.0.0.9", std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(admitted, 30);
}

TEST_F(ArrivalsTest, ManyHostsAreForgottenAgain) {
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(arrivals.admit("host" + std::to_string(i), "1"));
  clock.advance(Seconds{10});
  EXPECT_TRUE(arrivals.admit("one more", "1"));
}

}  // namespace
}  // namespace trireme::rpc
