// SPDX-License-Identifier: Apache-2.0
// Journals to outcomes, and a journal that grows.
#include "trireme/experiment/run_summary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

namespace trireme::experiment {
namespace {

observe::Record record(std::string type, double time, std::vector<std::pair<std::string, observe::Value>> fields) {
  return {.type = std::move(type), .time = time, .fields = std::move(fields)};
}

observe::Record epoch(std::int64_t number, double time, double accuracy) {
  return record("epoch", time,
                {{"epoch", number},
                 {"samples", std::int64_t{100}},
                 {"loss", 1.0 / static_cast<double>(number)},
                 {"accuracy", 0.5},
                 {"validation_loss", 0.7},
                 {"validation_accuracy", accuracy},
                 {"seconds", 2.0}});
}

std::vector<observe::Record> journal() {
  return {record("run", 90, {{"validation_samples", std::int64_t{30}}}),
          record("step", 101, {{"seconds", 1.0}, {"staleness", std::int64_t{2}}}),
          record("step", 102, {{"seconds", 1.0}, {"staleness", std::int64_t{3}}}),
          epoch(1, 104, 0.6),
          record("switch", 105, {{"seconds", 0.25}}),
          epoch(2, 108, 0.8),
          record("switch", 109, {{"seconds", 0.5}}),
          record("end", 110, {{"seconds", 4.0}, {"reason", std::string("completed")}})};
}

TEST(RunSummary, TakesTheLastEpochAndAllTheTime) {
  const RunSummary summary = summarize(journal());
  EXPECT_TRUE(summary.is_complete);
  EXPECT_DOUBLE_EQ(summary.accuracy, 0.8);
  EXPECT_DOUBLE_EQ(summary.training_loss, 0.5);
  EXPECT_EQ(summary.samples, 30);
  EXPECT_DOUBLE_EQ(summary.seconds, 8);
  EXPECT_DOUBLE_EQ(summary.training_seconds, 4);
  EXPECT_DOUBLE_EQ(summary.switch_seconds, 0.75);
  EXPECT_DOUBLE_EQ(summary.samples_per_second, 50);
  EXPECT_DOUBLE_EQ(summary.staleness, 2.5);
  ASSERT_EQ(summary.epochs.size(), 2U);
  EXPECT_DOUBLE_EQ(summary.epochs[0].seconds, 4);
}

TEST(RunSummary, AFinalTestCountsMoreThanValidation) {
  auto records = journal();
  records.insert(records.end() - 1, record("test", 109, {{"loss", 0.4}, {"accuracy", 0.75}, {"samples", std::int64_t{40}}}));
  const RunSummary summary = summarize(records);
  EXPECT_DOUBLE_EQ(summary.accuracy, 0.75);
  EXPECT_DOUBLE_EQ(summary.loss, 0.4);
  EXPECT_EQ(summary.samples, 40);
  EXPECT_DOUBLE_EQ(summary.epochs[1].accuracy, 0.8);
}

TEST(RunSummary, ARunThatWasCutShortOrWentOnIsNotComplete) {
  auto cut = journal();
  cut.pop_back();
  EXPECT_FALSE(summarize(cut).is_complete);
  auto interrupted = cut;
  interrupted.push_back(record("end", 110, {{"seconds", 4.0}, {"reason", std::string("interrupted")}}));
  EXPECT_FALSE(summarize(interrupted).is_complete);
  auto resumed = journal();
  resumed.push_back(record("resume", 120, {}));
  EXPECT_FALSE(summarize(resumed).is_complete);
  EXPECT_FALSE(summarize({}).is_complete);
  EXPECT_TRUE(std::isnan(summarize({}).accuracy));
}

TEST(JournalTail, ReadsOnlyWholeLinesAndGoesOn) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("trireme_tail_" + std::to_string(::getpid()));
  JournalTail tail(path);
  EXPECT_EQ(tail.look().epoch, 0) << "there is no file yet";
  std::ofstream file(path);
  file << R"({"type":"run","time":1,"samples":100,"epochs":2})" << '\n';
  file << R"({"type":"step","time":2,"epoch":1,"samples":50,"samples_seen":50,"accuracy":0.5})" << '\n' << std::flush;
  EXPECT_DOUBLE_EQ(tail.look().fraction, 0.25);
  file << R"({"type":"step","time":2,"epoch":1,"samples":50,"samples_se)" << std::flush;
  EXPECT_DOUBLE_EQ(tail.look().fraction, 0.25);
  file << R"(en":100,"accuracy":1.0})" << '\n' << std::flush;
  EXPECT_DOUBLE_EQ(tail.look().fraction, 0.5);
  EXPECT_DOUBLE_EQ(tail.look().accuracy, 0.75);
  file << R"({"type":"step","time":2,"epoch":2,"samples":50,"samples_seen":150,"accuracy":null})" << '\n' << std::flush;
  EXPECT_EQ(tail.look().epoch, 2);
  EXPECT_EQ(tail.look().epochs, 2);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace trireme::experiment
