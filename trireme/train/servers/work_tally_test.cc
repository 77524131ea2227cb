// SPDX-License-Identifier: Apache-2.0
// Parts become updates, none is lost, none counts twice.
#include "trireme/train/servers/work_tally.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

ps::WorkDone part(std::int64_t round, std::int64_t begin, std::int64_t end, double loss, data::Range batch = {}) {
  return {.worker = "1",
          .lease = {.id = 1, .begin = begin, .end = end, .round = round, .batch = batch},
          .samples = end - begin,
          .correct = (end - begin) / 2,
          .loss = loss,
          .compute_seconds = 1,
          .wait_seconds = 2};
}

TEST(WorkTally, OutOfStepEachPushIsAnUpdate) {
  WorkTally tally;
  EXPECT_EQ(tally.add({part(-1, 0, 8, 1), part(-1, 8, 16, 2)}, {}).size(), 2U);
  EXPECT_TRUE(tally.take_rest().empty());
  EXPECT_EQ(tally.take_time().wait, 4);
  EXPECT_EQ(tally.take_time().wait, 0);
}

TEST(WorkTally, InStepTheBatchIsOne) {
  WorkTally tally;
  const data::Range batch{100, 110};
  EXPECT_TRUE(tally.add({part(3, 100, 104, 1, batch)}, {.are_made = true}).empty());
  const auto updates = tally.add({part(3, 104, 110, 2, batch)}, {.are_made = true});
  ASSERT_EQ(updates.size(), 1U);
  EXPECT_EQ(updates[0].samples, 10);
  EXPECT_EQ(updates[0].correct, 5);
  EXPECT_DOUBLE_EQ(updates[0].loss, 1.6);
  EXPECT_EQ(updates[0].lease.begin, 100);
  EXPECT_EQ(updates[0].lease.end, 110);
  EXPECT_TRUE(updates[0].worker.empty());
  EXPECT_TRUE(tally.take_rest().empty());
}

TEST(WorkTally, ALostWorkerCannotReportButItsPartCounts) {
  WorkTally tally;
  EXPECT_TRUE(tally.add({part(0, 0, 4, 1, {0, 8})}, {.are_made = true}).empty());
  const auto rest = tally.take_rest();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].samples, 8);
  EXPECT_EQ(rest[0].correct, 4);
  EXPECT_TRUE(tally.take_rest().empty());
}

// A round that was made, and none of the workers that made it is left.
TEST(WorkTally, WhatNoWorkerCouldReportIsTakenToBeAsGoodAsWhatWasReportedBefore) {
  WorkTally tally;
  tally.add({part(0, 0, 8, 1.5, {0, 8})}, {.are_made = true});
  const ps::WorkDone unreported{.lease = {.begin = 8, .end = 16, .round = 1, .batch = {8, 16}}, .samples = 8, .is_reported = false};
  const auto updates = tally.add({unreported}, {.are_made = true});
  ASSERT_EQ(updates.size(), 1U);
  EXPECT_EQ(updates[0].lease.begin, 8);
  EXPECT_EQ(updates[0].samples, 8);
  EXPECT_EQ(updates[0].correct, 4);
  EXPECT_EQ(updates[0].loss, 1.5);
  EXPECT_TRUE(tally.take_rest().empty());
}

TEST(WorkTally, WithBackupWorkersAnyPartsMakeAnUpdate) {
  WorkTally tally;
  const WorkTally::Sums two{.are_made = true, .parts = 2};
  EXPECT_EQ(tally.add({part(-1, 0, 8, 1), part(-1, 16, 24, 1), part(-1, 8, 16, 1)}, two).size(), 1U);
  const auto rest = tally.take_rest();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].samples, 8);
}

}  // namespace
}  // namespace trireme::train
