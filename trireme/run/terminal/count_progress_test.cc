// SPDX-License-Identifier: Apache-2.0
// What a long pass says, on a terminal and in a file.
#include "trireme/run/terminal/count_progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace trireme::run {
namespace {

TEST(CountProgress, RewritesItsLineAndTakesItAway) {
  FakeClock clock;
  std::ostringstream out;
  {
    CountProgress progress(out, clock, {.terminal = true, .what = "pictures", .total = 3000});
    progress.at(0);
    EXPECT_EQ(out.str(), "");
    clock.advance(Seconds(2));
    progress.at(1000);
    EXPECT_EQ(out.str(), "\r\033[K1,000 of 3,000 pictures  500/s  4 s left");
  }
  EXPECT_TRUE(out.str().ends_with("left\r\033[K"));
}

TEST(CountProgress, WithoutATerminalALineNowAndThen) {
  FakeClock clock;
  std::ostringstream out;
  CountProgress progress(out, clock, {.what = "samples", .total = 100});
  clock.advance(Seconds(5));
  progress.at(10);
  EXPECT_EQ(out.str(), "");
  clock.advance(Seconds(5));
  progress.at(20);
  EXPECT_EQ(out.str(), "20 of 100 samples  2/s  40 s left\n");
}

}  // namespace
}  // namespace trireme::run
