// SPDX-License-Identifier: Apache-2.0
// Training: it learns, repeats itself bit by bit, uses every sample once, and says what is wrong.
#include "trireme/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

// 300 samples in batches of 64: the last batch has 44.
constexpr std::string_view kJob = R"(
[model]
name = "mlp_300_100"
[data]
samples = 300
test_samples = 100
[train]
epochs = 2
batch_size = 64
threads = 1
[train.optimizer]
name = "sgd"
learning_rate = 0.05
momentum = 0.9
)";

Job read(std::string_view more = "") {
  Config config = Config::parse_toml(kJob, "job.toml");
  if (const auto equals = more.find('='); equals != std::string_view::npos)
    config.set(more.substr(0, equals), more.substr(equals + 1), "--set");
  return job_from_config(config);
}

struct Journal final : Observer {
  void step(const StepRecord& record) override { steps.push_back(record); }
  void epoch(const EpochRecord& record) override { epochs.push_back(record); }

  std::vector<StepRecord> steps;
  std::vector<EpochRecord> epochs;
};

TEST(Trainer, UsesEverySampleOnceAnEpoch) {
  const Job job = read();
  const FakeClock clock;
  Trainer trainer(job, clock);
  Journal journal;
  trainer.run(journal);
  ASSERT_EQ(journal.epochs.size(), 2U);
  EXPECT_EQ(journal.epochs[1].samples, 300);
  ASSERT_EQ(journal.steps.size(), 10U);
  EXPECT_EQ(journal.steps[3].samples_seen, 256);
  EXPECT_EQ(journal.steps[4].samples_seen, 300);
  EXPECT_EQ(journal.steps[9].samples_seen, 600);
  EXPECT_EQ(journal.steps[9].samples_total, 600);
}

// Only with the same algorithms: the engine chooses them by timing, and another choice rounds otherwise. The second trainer finds
// the first one's choices in the cache.
TEST(Trainer, RepeatsItselfBitByBitWithTheSameAlgorithms) {
  const Job job = read();
  const SteadyClock clock;
  Observer silent;
  const std::filesystem::path cache = std::filesystem::path(testing::TempDir()) / fmt::format("trainer_test_{}.json", getpid());
  Trainer first(job, clock, cache);
  Trainer second(job, clock, cache);
  std::filesystem::remove(cache);
  EXPECT_EQ(second.compile_report().timed, 0);
  first.run(silent);
  second.run(silent);
  EXPECT_TRUE(std::ranges::equal(first.parameters(), second.parameters()));
}

TEST(Trainer, Learns) {
  Job job = read();
  job.data.samples = 4000;
  job.data.test_samples = 1000;
  job.train.epochs = 6;
  const SteadyClock clock;
  Journal journal;
  const EpochRecord last = Trainer(job, clock).run(journal);
  EXPECT_LT(last.loss, 0.5 * journal.epochs[0].loss);
  EXPECT_GT(last.test_accuracy, 0.85);
}

TEST(Trainer, FollowsTheSchedule) {
  Job job = read();
  job.schedule = {.kind = "piecewise", .boundaries = {1}, .factors = {0.5}};
  const FakeClock clock;
  Journal journal;
  Trainer(job, clock).run(journal);
  EXPECT_DOUBLE_EQ(journal.epochs[0].learning_rate, 0.05);
  EXPECT_DOUBLE_EQ(journal.epochs[1].learning_rate, 0.025);
}

TEST(Trainer, RefusesDataThatDoNotFitTheModel) {
  const Job job = read("model.inputs=100");
  const FakeClock clock;
  try {
    Trainer trainer(job, clock);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("takes 100, but a sample of 'synthetic_digits' is 1x28x28"));
  }
}

TEST(Trainer, StopsWhenTheLossIsNoNumber) {
  Job job = read();
  job.schedule = {.kind = "piecewise", .boundaries = {0}, .factors = {1e30}};
  const FakeClock clock;
  Trainer trainer(job, clock);
  Observer silent;
  EXPECT_THROW(trainer.run(silent), Error);
}

}  // namespace
}  // namespace trireme::train
