// SPDX-License-Identifier: Apache-2.0
// Training: it learns, repeats itself bit by bit, continues as if never interrupted, uses every sample once, and says what is wrong.
#include "trireme/train/loop/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/train/node/node_history.h"
#include "trireme/train/testing/job.h"

namespace trireme::train {
namespace {

Job read(const std::vector<std::string>& settings = {}) { return job_with(kDigitsJob, settings); }

// A job with its data and a clock, ready to train.
struct Bench {
  explicit Bench(const std::vector<std::string>& settings = {})
      : job(read(settings)), data(data::open_data(job.data, testing::TempDir())) {}

  Job job;
  data::DataSets data;
  SteadyClock clock;

  Trainer trainer(const std::filesystem::path& cache = {}) const { return Trainer({.job = job, .data = data, .clock = clock}, cache); }
  void run(Observer& observer) const {
    Trainer own = trainer();
    run_to_end(own, observer);
  }
};

// The engine chooses algorithms by timing, and another choice rounds otherwise: trainers that must agree share a cache.
struct SharedCache {
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / fmt::format("trainer_test_{}.json", getpid());

  SharedCache() = default;
  ~SharedCache() { std::filesystem::remove(path); }
  SharedCache(const SharedCache&) = delete;
  SharedCache& operator=(const SharedCache&) = delete;
};

TEST(Trainer, UsesEverySampleOnceAnEpoch) {
  const Bench bench;
  Memory memory;
  bench.run(memory);
  ASSERT_EQ(memory.epochs.size(), 2U);
  EXPECT_EQ(memory.epochs[1].train.samples, 300);
  ASSERT_EQ(memory.steps.size(), 10U);
  EXPECT_EQ(memory.steps[3].samples_seen, 256);
  EXPECT_EQ(memory.steps[4].samples_seen, 300);
  EXPECT_EQ(memory.steps[4].batch.samples, 44);
  EXPECT_EQ(memory.steps[9].samples_seen, 600);
  EXPECT_EQ(memory.steps[9].samples_total, 600);
}

// A node whose first call fails, for want of threads, writes no step, and does not abort over the shares of a batch it never had.
TEST(Trainer, HasNoStepForTheJournalBeforeItsFirstBatch) {
  const Bench bench;
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / fmt::format("trainer_test_events_{}", getpid());
  std::filesystem::create_directory(folder);
  {
    NodeHistory history(folder, "0");
    history.stepped(bench.trainer());
  }
  const std::filesystem::path file = folder / fmt::format("node-0-{}.jsonl", getpid());
  EXPECT_THAT(observe::read_journal(file), testing::ElementsAre(testing::Field(&observe::Record::type, "start")));
  std::filesystem::remove_all(folder);
}

TEST(Trainer, RepeatsItselfBitByBitWithTheSameAlgorithms) {
  const Bench bench;
  const SharedCache cache;
  Observer silent;
  Trainer first = bench.trainer(cache.path);
  Trainer second = bench.trainer(cache.path);
  EXPECT_EQ(second.replica().compile_report().timed, 0);
  run_to_end(first, silent);
  run_to_end(second, silent);
  EXPECT_TRUE(std::ranges::equal(first.replica().parameters(), second.replica().parameters()));
}

// Dropout, augmentation, batch-norm statistics, two optimizer slots, a schedule, threads: all must continue.
TEST(Trainer, ContinuesFromAnyStepAsIfNeverInterrupted) {
  const Bench bench({"model.name=densenet", "model.depth=10", "data.samples=100", "data.validation=20", "data.augment.pad=2",
                     "train.batch_size=32", "train.threads=2", "train.optimizer.name=adam", "train.schedule.kind=cosine"});
  const SharedCache cache;
  Memory undisturbed;
  Trainer whole = bench.trainer(cache.path);
  std::vector<Checkpoint> checkpoints{whole.checkpoint()};
  while (!whole.finished()) {
    whole.advance(undisturbed);
    checkpoints.push_back(whole.checkpoint());
  }
  ASSERT_EQ(checkpoints.size(), 7U);
  for (const std::size_t at : {0U, 1U, 3U, 5U, 6U}) {
    Memory memory;
    Trainer rest = bench.trainer(cache.path);
    rest.restore(checkpoints[at]);
    run_to_end(rest, memory);
    EXPECT_TRUE(std::ranges::equal(whole.replica().parameters(), rest.replica().parameters())) << "from step " << at;
    EXPECT_TRUE(std::ranges::equal(whole.checkpoint().states, rest.checkpoint().states)) << "from step " << at;
    ASSERT_NE(rest.checkpoint().best, nullptr);
    EXPECT_EQ(rest.checkpoint().best->parameters, whole.checkpoint().best->parameters) << "from step " << at;
    EXPECT_EQ(rest.checkpoint().best->states, whole.checkpoint().best->states) << "from step " << at;
    if (memory.epochs.empty()) continue;
    EXPECT_EQ(memory.epochs.back().train.loss, undisturbed.epochs.back().train.loss) << "from step " << at;
    EXPECT_EQ(memory.epochs.back().validation.loss, undisturbed.epochs.back().validation.loss) << "from step " << at;
  }
}

TEST(Trainer, Learns) {
  const Bench bench({"data.samples=4000", "data.test_samples=1000", "train.optimizer.momentum=0.9", "train.epochs=6"});
  Memory memory;
  Trainer trainer = bench.trainer();
  run_to_end(trainer, memory);
  EXPECT_LT(memory.epochs.back().train.loss, 0.5 * memory.epochs[0].train.loss);
  EXPECT_GT(trainer.test().accuracy, 0.85);
  EXPECT_EQ(trainer.test().accuracy, memory.epochs.back().test.accuracy);
}

TEST(Trainer, ValidatesOnHeldOutSamplesAndThenLeavesTheTestAlone) {
  const Bench bench({"data.validation=50"});
  Memory memory;
  bench.run(memory);
  EXPECT_EQ(memory.epochs[0].train.samples, 250);
  EXPECT_EQ(memory.epochs[0].validation.samples, 50);
  EXPECT_EQ(memory.epochs[0].test.samples, 0);
}

TEST(Trainer, StopsEarlyWhenValidationGetsNoBetter) {
  // A change of 1 in accuracy is impossible, so only the first epoch counts as an improvement.
  const Bench bench({"data.validation=50", "train.epochs=9", "train.early_stopping.patience=2", "train.early_stopping.watch=accuracy",
                     "train.early_stopping.min_change=1"});
  Memory memory;
  Trainer trainer = bench.trainer();
  run_to_end(trainer, memory);
  EXPECT_EQ(trainer.finished(), Ending::stopped_early);
  EXPECT_EQ(memory.epochs.size(), 3U);
}

TEST(Trainer, FollowsTheSchedule) {
  const Bench bench({"train.schedule.kind=piecewise", "train.schedule.boundaries=[1]", "train.schedule.factors=[0.5]"});
  Memory memory;
  bench.run(memory);
  EXPECT_DOUBLE_EQ(memory.epochs[0].learning_rate, 0.05);
  EXPECT_DOUBLE_EQ(memory.epochs[1].learning_rate, 0.025);
}

TEST(Trainer, RefusesDataThatDoNotFitTheModel) {
  const Bench bench({"model.inputs=100"});
  EXPECT_THAT(thrown_error([&] { bench.trainer(); }), testing::HasSubstr("takes 100, but a sample of 'synthetic_digits' is 1x28x28"));
}

TEST(Trainer, RefusesACheckpointOfAnotherOptimizer) {
  const Bench bench;
  const Bench other({"train.optimizer.name=adam"});
  Trainer trainer = bench.trainer();
  EXPECT_THAT(thrown_error([&] { trainer.restore(other.trainer().checkpoint()); }), testing::HasSubstr("another optimizer"));
}

TEST(Trainer, ContinuesACheckpointThatStandsAtNoBatchOfItsOwn) {
  const Bench bench;
  const Bench other({"train.batch_size=48"});
  Memory silent, rest;
  Trainer first = bench.trainer();
  first.advance(silent);
  Trainer second = other.trainer();
  second.restore(first.checkpoint());
  const std::int64_t offset = second.cursor().epoch_offset;
  second.advance(rest);
  EXPECT_EQ(second.cursor().epoch_offset, offset + 48);
  run_to_end(second, rest);
  EXPECT_EQ(rest.epochs.front().train.samples, other.data.train->size());
  EXPECT_EQ(second.cursor().samples_seen, other.data.train->size() * static_cast<std::int64_t>(rest.epochs.size()));
}

TEST(Trainer, RefusesACheckpointFurtherThanItsData) {
  const Bench bench;
  Observer silent;
  Trainer trainer = bench.trainer();
  trainer.advance(silent);
  Checkpoint checkpoint = trainer.checkpoint();
  checkpoint.cursor.epoch_offset = bench.data.train->size();
  EXPECT_THAT(thrown_error([&] { trainer.restore(checkpoint); }), testing::HasSubstr("leave the data as they were"));
}

TEST(Trainer, StopsWhenTheLossIsNoNumber) {
  const Bench bench({"train.schedule.kind=piecewise", "train.schedule.boundaries=[0]", "train.schedule.factors=[1e30]"});
  Observer silent;
  EXPECT_THAT(thrown_error([&] { bench.run(silent); }), testing::HasSubstr("lower train.optimizer.learning_rate"));
}

}  // namespace
}  // namespace trireme::train
