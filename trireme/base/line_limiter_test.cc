// SPDX-License-Identifier: Apache-2.0
// Tests of the limit on lines.
#include "trireme/base/line_limiter.h"

#include <gmock/gmock.h>

#include <vector>

namespace trireme {
namespace {

using testing::ElementsAre;

TEST(LineLimiter, OneLineASecondThenACount) {
  FakeClock clock;
  std::vector<std::string> lines;
  {
    LineLimiter limiter([&](const std::string& line) { lines.push_back(line); }, clock);
    for (int i = 0; i < 1000; ++i) limiter.add("first");
    clock.advance(Seconds{0.9});
    limiter.look();
    limiter.add("too soon");
    clock.advance(Seconds{0.2});
    limiter.add("second");
    limiter.add("third");
    clock.advance(Seconds{2});
    limiter.look();
    clock.advance(Seconds{2});
    limiter.add("four of them", 4);
    limiter.add("last");
  }
  EXPECT_THAT(lines,
              ElementsAre("first", "second (and 1000 more)", "(1 more like that)", "four of them (and 3 more)", "(1 more like that)"));
}

TEST(LineLimiter, WithoutAReceiverNothingHappens) {
  LineLimiter limiter(nullptr);
  limiter.add("x");
  limiter.look();
}

}  // namespace
}  // namespace trireme
