// SPDX-License-Identifier: Apache-2.0
// Every described record: over the wire, through journal and tables, in sums, and in the docs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/observe/record_table.h"
#include "trireme/observe/records/epoch_record.h"
#include "trireme/observe/records/machine_sample.h"
#include "trireme/observe/records/server_record.h"
#include "trireme/observe/records/step_anatomy.h"
#include "trireme/observe/records/step_record.h"
#include "trireme/observe/records/straggler_record.h"
#include "trireme/observe/records/switch_record.h"
#include "trireme/observe/testing/described.h"

namespace trireme::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The section of docs/journal.md that has its fields.
template <class R>
std::string heading() = delete;
template <>
std::string heading<StepRecord>() {
  return "### step:";
}
template <>
std::string heading<EpochRecord>() {
  return "### epoch:";
}
template <>
std::string heading<ServerRecord>() {
  return "### server:";
}
template <>
std::string heading<SwitchRecord>() {
  return "### switch:";
}
template <>
std::string heading<StragglerRecord>() {
  return "### straggler:";
}
template <>
std::string heading<SlowLinkRecord>() {
  return "### slow_link:";
}
template <>
std::string heading<Score>() {
  return "### test:";
}
template <>
std::string heading<StepAnatomy>() {
  return "## steps/NODE.csv";
}
template <>
std::string heading<MachineSample>() {
  return "### machine:";
}

template <class R>
class Records : public testing::Test {};
using Kinds =
    testing::Types<StepRecord, EpochRecord, SwitchRecord, StragglerRecord, SlowLinkRecord, Score, StepAnatomy, MachineSample, ServerRecord>;
TYPED_TEST_SUITE(Records, Kinds);

TYPED_TEST(Records, AreDocumented) { expect_documented<TypeParam>(heading<TypeParam>()); }

TYPED_TEST(Records, KeepEveryField) {
  if constexpr (std::is_same_v<TypeParam, ServerRecord>) {
    auto first = filled<ServerRecord>();
    first.server = 0;  // only the first one speaks for all
    expect_same(first, unpack_record<ServerRecord>(pack_record(first)), false);
    expect_same(first, record_of<ServerRecord>(as_read(fields_of(first))), true);
  } else {
    expect_conforms<TypeParam>();
  }
}

TYPED_TEST(Records, EveryTruncationIsRefused) {
  const std::string bytes = pack_record(filled<TypeParam>());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(unpack_record<TypeParam>(bytes.substr(0, length)), Error) << length;
}

TEST(Record, OfAnotherKindIsRefused) {
  EXPECT_THAT(thrown_error([] { unpack_record<EpochRecord>(pack_record(StepRecord{})); }), HasSubstr("another kind or version"));
  EXPECT_THROW(unpack_record<StepRecord>("\xff\xff"), Error);
}

TEST(Record, FilesLeaveOutWhatItDoesNotHave) {
  const Record record = as_read(fields_of(StepRecord{.step = 3, .epoch = 1}));
  EXPECT_EQ(record.integer("epoch"), 2) << "from 1";
  for (const char* absent : {"worker", "staleness", "noise_scale", "skipped", "faulty_ranks", "samples_total", "workers"})
    EXPECT_EQ(record.find(absent), nullptr) << absent;
  const Record of_worker = as_read(fields_of(StepRecord{.worker = 2}));
  EXPECT_EQ(of_worker.integer("staleness"), 0);
}

TEST(Record, SwitchesAreReportedInWords) {
  const Record record = as_read(fields_of(SwitchRecord{.slots_reset = true}));
  EXPECT_EQ(record.text("weights"), "sent to every node");
  EXPECT_EQ(record.text("slots"), "reset");
}

TEST(Record, BinsEndWithTheLastThatIsNotEmpty) {
  EXPECT_EQ(as_read(fields_of(ServerRecord{.staleness = {0, 7, 0, 2, 0, 0}})).text("staleness"), "0 7 0 2");
}

TEST(Record, TablesKeepEveryField) {
  const auto step = filled<StepAnatomy>();
  NumberTable table;
  EXPECT_FALSE(table.take(column_names<StepAnatomy>().substr(0, column_names<StepAnatomy>().size() - 1)));
  ASSERT_TRUE(table.take(row_of(step).substr(0, row_of(step).size() - 1)));
  expect_same(step, record_of_row<StepAnatomy>(table), true);
}

TEST(Record, SeveralBecomeOne) {
  ServerRecord sum{.server = 1, .seconds = 2, .pushes = 3, .staleness = {1, 2}, .most_ahead = 4};
  combine(sum, ServerRecord{.server = 1, .seconds = 0.5, .pushes = 4, .staleness = {1, 0, 5}, .most_ahead = 2});
  EXPECT_EQ(sum.server, 1);
  EXPECT_EQ(sum.seconds, 2.5);
  EXPECT_EQ(sum.pushes, 7);
  EXPECT_EQ(sum.most_ahead, 4);
  EXPECT_THAT(sum.staleness, ElementsAre(2, 2, 5));
}

TEST(Record, PartsMakeUpAStep) {
  EXPECT_DOUBLE_EQ(parts_of({.seconds = 9, .input_wait_seconds = 1, .forward_seconds = 2, .exposed_seconds = 4, .exchange_seconds = 8}), 7);
}

// A step is on its way to the coordinator thousands of times per second.
TEST(Record, IsSmallOnTheWire) {
  const StepRecord step{.step = 12345,
                        .epoch = 7,
                        .samples_seen = 790'080,
                        .samples_total = 6'000'000,
                        .batch = {.samples = 64, .loss = 0.123456, .accuracy = 0.9876},
                        .epoch_mean = {.samples = 31234, .loss = 0.123456, .accuracy = 0.9876},
                        .learning_rate = 0.05,
                        .samples_per_second = 12345.6,
                        .workers = 4,
                        .seconds = 0.0123,
                        .input_wait_seconds = 1e-5,
                        .compute_seconds = 0.01,
                        .exposed_seconds = 0.001,
                        .optimizer_seconds = 0.0005,
                        .exchange_seconds = 0.005};
  EXPECT_LE(pack_record(step).size(), 140U);
  wire::Measurements rows;
  write_records(rows, std::vector<StepAnatomy>(100, filled<StepAnatomy>()));
  EXPECT_LE(rows.ByteSizeLong(), 7500U);
}

}  // namespace
}  // namespace trireme::observe
