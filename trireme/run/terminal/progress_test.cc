// SPDX-License-Identifier: Apache-2.0
// The progress line on a terminal and elsewhere.
#include "trireme/run/terminal/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace trireme::run {
namespace {

constexpr train::StepRecord kStep{.epoch = 1,
                                  .samples_seen = 750,
                                  .samples_total = 1000,
                                  .epoch_mean = {.samples = 250, .loss = 0.5, .accuracy = 0.75},
                                  .samples_per_second = 2};
constexpr train::EpochRecord kEpoch{.epoch = 1,
                                    .train = {.samples = 500, .loss = 0.25, .accuracy = 0.5},
                                    .penalty = 0.125,
                                    .validation = {.samples = 9, .loss = 0.75, .accuracy = 0.875},
                                    .samples_per_second = 1234};

std::string epoch_line(const Progress::Settings& settings, const train::EpochRecord& record) {
  std::ostringstream out;
  const FakeClock clock;
  Progress(out, clock, settings).epoch(record);
  return out.str();
}

TEST(Progress, ALineAnEpochIfItCannotBeRewritten) {
  EXPECT_EQ(epoch_line({.epochs = 2}, kEpoch),
            "epoch 2/2  1234 samples/s  loss 0.2500 + 0.1250  accuracy 50.00 %  validation loss 0.7500  validation accuracy 87.50 %\n");
}

TEST(Progress, SaysNothingOfWhatWasNotMeasured) {
  train::EpochRecord record = kEpoch;
  record.validation = {};
  EXPECT_EQ(epoch_line({.epochs = 2, .classes = false}, record), "epoch 2/2  1234 samples/s  loss 0.2500 + 0.1250\n");
}

TEST(Progress, ASkippedStepIsReportedAtOnce) {
  std::ostringstream out;
  const FakeClock clock;
  train::StepRecord record = kStep;
  record.step = 12;
  record.skips = {.steps = 1, .ranks = {1, 2}};
  Progress(out, clock, {.epochs = 2}).step(record);
  EXPECT_EQ(out.str(),
            "step 12 skipped: loss or gradients of rank 1, 2 are not finite; no weight was changed by it (train.on_non_finite)\n");
}

TEST(Progress, RewritesTheLineOnATerminalNotTooOften) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.terminal = true, .epochs = 2});
  progress.step(kStep);
  EXPECT_TRUE(out.str().empty());
  clock.advance(Seconds{1});
  progress.step(kStep);
  progress.step(kStep);
  EXPECT_EQ(out.str(), "\r\033[Kepoch 2/2  75 %  2 samples/s  loss 0.5000  accuracy 75.00 %  2:05 left");
}

TEST(Progress, ALongEpochGivesASignOfLifeInALog) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.epochs = 2});
  for (int i = 0; i < 70; ++i) {
    clock.advance(Seconds{1});
    progress.step(kStep);
  }
  EXPECT_EQ(std::ranges::count(out.str(), '\n'), 2);
}

}  // namespace
}  // namespace trireme::run
