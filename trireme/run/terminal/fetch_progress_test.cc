// SPDX-License-Identifier: Apache-2.0
// Tests of the progress of a download: one line that is rewritten on a terminal, few plain lines elsewhere.
#include "trireme/run/terminal/fetch_progress.h"

#include <gtest/gtest.h>

#include <sstream>

#include "trireme/base/clock.h"

namespace trireme::run {
namespace {

TEST(FetchProgress, OneLineOnATerminal) {
  FakeClock clock;
  std::ostringstream out;
  FetchProgress progress(out, clock, {.terminal = true});
  progress.received("x.gz", 1'000'000, 9'000'000);  // an earlier fetch brought them
  clock.advance(Seconds(2));
  progress.received("x.gz", 5'000'000, 9'000'000);
  progress.received("x.gz", 5'000'001, 9'000'000);  // too early for another
  progress.verified("x", 20'000'000);
  EXPECT_EQ(out.str(), "\r\033[K  x.gz  5.0 of 9.0 MB  2.0 MB/s\r\033[K  x  20.0 MB, verified\n");
}

TEST(FetchProgress, PlainLinesElsewhere) {
  FakeClock clock;
  std::ostringstream out;
  FetchProgress progress(out, clock, {.terminal = false});
  progress.trying("somewhere");
  progress.received("x.gz", 0, 0);
  clock.advance(Seconds(2));
  progress.received("x.gz", 5'000'000, 0);
  clock.advance(Seconds(8));
  progress.received("x.gz", 7'000'000, 0);
  progress.refused("somewhere", "it lies");
  EXPECT_EQ(out.str(), "from somewhere\n  x.gz  7.0 MB  0.7 MB/s\n  no: it lies\n");
}

}  // namespace
}  // namespace trireme::run
