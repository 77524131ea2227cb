// SPDX-License-Identifier: Apache-2.0
// Schedules at and around their boundaries.
#include "trireme/optim/schedule.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::optim {
namespace {

constexpr ScheduleSpan kSpan{.samples_per_epoch = 1000, .epochs = 10, .batch_size = 256};

TEST(Schedule, ConstantStaysOne) {
  const Schedule schedule({}, kSpan);
  EXPECT_EQ(schedule.factor(0), 1);
  EXPECT_EQ(schedule.factor(1e9), 1);
}

TEST(Schedule, PiecewiseChangesWithTheFirstSampleOfTheBoundary) {
  const Schedule schedule({.kind = "piecewise", .boundaries = {2, 5.5}, .factors = {0.1, 0.01}}, kSpan);
  EXPECT_EQ(schedule.factor(0), 1);
  EXPECT_EQ(schedule.factor(1999), 1);
  EXPECT_EQ(schedule.factor(2000), 0.1);
  EXPECT_EQ(schedule.factor(5499), 0.1);
  EXPECT_EQ(schedule.factor(5500), 0.01);
  EXPECT_EQ(schedule.factor(99999), 0.01);
}

TEST(Schedule, CosineEndsAtTheFinalFactorAndStaysThere) {
  const Schedule schedule({.kind = "cosine", .final_factor = 0.2}, kSpan);
  EXPECT_DOUBLE_EQ(schedule.factor(0), 1);
  EXPECT_DOUBLE_EQ(schedule.factor(5000), 0.6);
  EXPECT_DOUBLE_EQ(schedule.factor(10000), 0.2);
  EXPECT_DOUBLE_EQ(schedule.factor(20000), 0.2);
}

TEST(Schedule, WarmupRisesLinearlyAndMultipliesTheRest) {
  const Schedule schedule(
      {.kind = "piecewise", .boundaries = {3}, .factors = {0.5}, .warmup_epochs = 4, .warmup_start = 0.2, .reference_batch_size = 128},
      kSpan);
  EXPECT_DOUBLE_EQ(schedule.factor(0), 2 * 0.2);
  EXPECT_DOUBLE_EQ(schedule.factor(2000), 2 * 0.6);
  EXPECT_DOUBLE_EQ(schedule.factor(3000), 2 * 0.8 * 0.5);
  EXPECT_DOUBLE_EQ(schedule.factor(4000), 2 * 0.5);
}

TEST(Schedule, RefusesBoundariesThatDoNotFit) {
  EXPECT_THROW(Schedule({.kind = "piecewise", .boundaries = {1, 2}, .factors = {0.1}}, kSpan), Error);
  EXPECT_THROW(Schedule({.kind = "piecewise", .boundaries = {2, 1}, .factors = {0.1, 0.2}}, kSpan), Error);
}

TEST(Schedule, ReadsAJobFile) {
  const Config table = Config::parse_toml("kind = 'piecewise'\nboundaries = [1, 2.5]\nfactors = [0.1, 0.01]", "job.toml");
  const auto options = read_options<ScheduleOptions>(table, "schedule");
  EXPECT_EQ(Schedule(options, kSpan).factor(2500), 0.01);
}

}  // namespace
}  // namespace trireme::optim
