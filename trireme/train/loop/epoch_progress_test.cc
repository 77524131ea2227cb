// SPDX-License-Identifier: Apache-2.0
// Sums over an epoch without the steps that were skipped, and the epochs' end.
#include "trireme/train/loop/epoch_progress.h"

#include <gtest/gtest.h>

#include <limits>

#include "trireme/train/testing/job.h"

namespace trireme::train {
namespace {

constexpr std::string_view kJob = R"(
[model]
name = "mlp_300_100"
[data]
name = "synthetic_digits"
samples = 100
[train]
epochs = 4
)";

TEST(EpochProgress, LeavesOutcomesOfSkippedStepsOut) {
  const Job job = job_with(kJob, {});
  Cursor cursor;
  EpochProgress progress(job, 100, cursor);
  progress.count({.outcome = {.samples = 40, .correct = 10, .loss = 2}, .seconds = 1, .exchange_seconds = 0.25});
  const EpochProgress::Step skipped{.outcome = {.samples = 60, .correct = 60, .loss = 99}, .is_skipped = true, .seconds = 1};
  progress.count(skipped);
  EXPECT_EQ(cursor.step, 2);
  EXPECT_TRUE(progress.is_epoch_over());
  const StepRecord step = progress.step_record(skipped, 0.1, 3);
  EXPECT_EQ(step.batch.samples, 60);
  EXPECT_DOUBLE_EQ(step.batch.loss, 2);
  EXPECT_DOUBLE_EQ(step.samples_per_second, 50);
  const EpochRecord epoch = progress.epoch_record({}, 0.1);
  EXPECT_DOUBLE_EQ(epoch.train.loss, 2);
  EXPECT_DOUBLE_EQ(epoch.train.accuracy, 0.25);
  EXPECT_DOUBLE_EQ(epoch.exchange_seconds, 0.25);
  EXPECT_DOUBLE_EQ(progress.epoch_record({}, 0.1).exchange_seconds, 0) << "each epoch has its own";
}

TEST(EpochProgress, EndsWithTheLastEpochOrWhenValidationGetsNoBetter) {
  for (const bool improves : {true, false}) {
    const Job job = job_with(kJob, {"data.validation=10", "train.early_stopping.patience=2", "train.early_stopping.watch=loss"});
    Cursor cursor;
    EpochProgress progress(job, 100, cursor);
    for (double loss = 1; !progress.finished(); loss += improves ? -0.1 : 0.1) progress.begin_next_epoch({.samples = 10, .loss = loss});
    EXPECT_EQ(progress.finished(), improves ? Ending::completed : Ending::stopped_early);
    EXPECT_EQ(cursor.epoch, improves ? 4 : 3);
  }
}

// What is not a number is no best epoch, and doesn't keep a later one from being one.
TEST(EpochProgress, SaysWhichEpochIsTheBest) {
  const Job job = job_with(kJob, {});
  Cursor cursor;
  EpochProgress progress(job, 100, cursor);
  EXPECT_FALSE(progress.begin_next_epoch({.samples = 10, .loss = std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_TRUE(progress.begin_next_epoch({.samples = 10, .loss = 2}));
  EXPECT_FALSE(progress.begin_next_epoch({.samples = 10, .loss = 2}));
  EXPECT_FALSE(progress.begin_next_epoch({}));
  EXPECT_TRUE(progress.begin_next_epoch({.samples = 10, .loss = 1}));
  EXPECT_EQ(cursor.best_epoch, 4);
  EXPECT_EQ(cursor.best, -1);
}

// Else a loss would have to beat an accuracy.
TEST(EpochProgress, BeginsAnewIfSomethingElseIsWatchedNow) {
  const Job by_accuracy = job_with(kJob, {"train.early_stopping.watch=accuracy"});
  const Job by_loss = job_with(kJob, {});
  Cursor cursor;
  EXPECT_TRUE(EpochProgress(by_accuracy, 100, cursor).begin_next_epoch({.samples = 10, .loss = 0.5, .accuracy = 0.9}));
  EXPECT_TRUE(EpochProgress(by_loss, 100, cursor).begin_next_epoch({.samples = 10, .loss = 0.7, .accuracy = 0.8}));
  EXPECT_FALSE(EpochProgress(by_loss, 100, cursor).begin_next_epoch({.samples = 10, .loss = 0.8, .accuracy = 0.8}));
  EXPECT_TRUE(EpochProgress(by_accuracy, 100, cursor).begin_next_epoch({.samples = 10, .loss = 0.9, .accuracy = 0.1}));
}

}  // namespace
}  // namespace trireme::train
