// SPDX-License-Identifier: Apache-2.0
// The progress line on a terminal and elsewhere.
#include "trireme/cli/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace trireme::cli {
namespace {

constexpr train::StepRecord kStep{
    .epoch = 1, .samples_seen = 750, .samples_total = 1000, .loss = 0.5, .accuracy = 0.75, .samples_per_second = 2};
constexpr train::EpochRecord kEpoch{
    .epoch = 1, .loss = 0.25, .penalty = 0.125, .accuracy = 0.5, .test_loss = 0.75, .test_accuracy = 0.875, .samples_per_second = 1234};

TEST(Progress, ALineAnEpochIfNobodyCanRewriteIt) {
  std::ostringstream out;
  const FakeClock clock;
  Progress progress(out, clock, {.epochs = 2});
  progress.step(kStep);
  progress.epoch(kEpoch);
  EXPECT_EQ(out.str(), "epoch 2/2  1234 samples/s  loss 0.2500 + 0.1250  accuracy 50.00 %  test loss 0.7500  test accuracy 87.50 %\n");
}

TEST(Progress, RewritesTheLineOnATerminalNotTooOften) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.terminal = true, .epochs = 2});
  progress.step(kStep);
  progress.step(kStep);
  EXPECT_EQ(out.str(), "\r\033[Kepoch 2/2  75 %  2 samples/s  loss 0.5000  accuracy 75.00 %  2:05 left");
  clock.advance(Seconds{1});
  out.str("");
  progress.step(kStep);
  EXPECT_FALSE(out.str().empty());
}

TEST(Progress, SaysNothingOfATestThatWasNotMade) {
  std::ostringstream out;
  const FakeClock clock;
  Progress(out, clock, {.epochs = 2, .tested = false}).epoch(kEpoch);
  EXPECT_EQ(out.str().find("test"), std::string::npos);
}

}  // namespace
}  // namespace trireme::cli
