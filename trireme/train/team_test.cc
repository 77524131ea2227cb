// SPDX-License-Identifier: Apache-2.0
// Several workers against one: the same weights, whatever their number, their shares and the last batch.
#include "trireme/train/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/thrown_error.h"
#include "trireme/train/speed_shares.h"
#include "trireme/train/strategy_entry.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

// Without batch-norm and dropout. 330 samples in batches of 64: the last one has 10, which 3 and 5 workers can't divide evenly.
constexpr std::string_view kJob = R"(
[model]
name = "mlp_300_100"
[data]
name = "synthetic_digits"
samples = 330
test_samples = 101
[train]
epochs = 9
batch_size = 64
threads = 1
[train.optimizer]
name = "sgd"
learning_rate = 0.05
momentum = 0.9
)";

Job read(const std::vector<std::string>& settings) {
  Config config = Config::parse_toml(kJob, "job.toml");
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    config.set(setting.substr(0, equals), setting.substr(equals + 1), "--set");
  }
  return job_from_config(config);
}

struct Memory final : Observer {
  void step(const StepRecord& record) override { steps.push_back(record); }
  void epoch(const EpochRecord& record) override { epochs.push_back(record); }
  void straggler(const StragglerRecord& record) override { stragglers.push_back(record); }
  std::vector<StepRecord> steps;
  std::vector<EpochRecord> epochs;
  std::vector<StragglerRecord> stragglers;
};

class ScaledClock final : public Clock {
 public:
  explicit ScaledClock(double factor) : factor_(factor) {}
  Seconds now() const override { return factor_ * clock_.now(); }

 private:
  double factor_;
  SteadyClock clock_;
};

struct TemporaryFolder {
  TemporaryFolder() : path(std::filesystem::path(testing::TempDir()) / fmt::format("team_test_{}_{}", getpid(), static_cast<void*>(this))) {
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path path;
};

// What a worker has at the end.
struct Trained {
  std::vector<float> parameters;
  Memory memory;
  Checkpoint checkpoint;
  std::vector<double> shares;
};

// A worker's way through the training; the default is to the end.
using Drive = std::function<void(Trainer&, Observer&, int rank)>;
void to_the_end(Trainer& trainer, Observer& observer, int) { trainer.run(observer); }

struct Cluster {
  explicit Cluster(const std::vector<std::string>& settings = {})
      : job(read(settings)), data(data::open_data(job.data, testing::TempDir())) {}

  Trained worker(comm::Store& store, int rank, int size, const Drive& drive) const {
    const ScaledClock own_clock(1 + slowness * rank);
    Trainer trainer({.job = job, .data = data, .clock = own_clock, .team_follows = true}, cache());
    {
      // As nodes of one machine do: one after another, each using what the one before has found.
      const std::lock_guard in_turn(compiling);
      trainer.prepare(rank, size);
    }
    comm::Group group{.rank = rank, .size = size, .generation = 1, .address = "127.0.0.1", .key = "a key of this test's own"};
    trainer.enter(Team(comm::Communicator::connect(store, group, Seconds(20)), Seconds(20)));
    Trained out;
    drive(trainer, out.memory, rank);
    out.parameters.assign(trainer.parameters().begin(), trainer.parameters().end());
    out.checkpoint = trainer.checkpoint();
    out.shares = trainer.shares();
    return out;
  }

  // One thread a worker, over real sockets.
  std::vector<Trained> train(int size, const Drive& drive = to_the_end) const {
    comm::MemoryStore store;
    std::vector<Trained> out(static_cast<std::size_t>(size));
    std::vector<std::exception_ptr> errors(out.size());
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
          try {
            out[static_cast<std::size_t>(rank)] = worker(store, rank, size, drive);
          } catch (...) {
            errors[static_cast<std::size_t>(rank)] = std::current_exception();
          }
        });
    }
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    return out;
  }

  Trained alone() const {
    Trainer trainer({.job = job, .data = data, .clock = clock}, cache());
    Trained out;
    trainer.run(out.memory);
    out.parameters.assign(trainer.parameters().begin(), trainer.parameters().end());
    return out;
  }

  // The engine chooses algorithms by timing, and another choice rounds otherwise.
  std::filesystem::path cache() const { return folder.path / "algorithms.json"; }

  Job job;
  data::DataSets data;
  SteadyClock clock;
  double slowness = 0;  // worker r seems to compute 1 + slowness * r times as slowly
  TemporaryFolder folder;
  mutable std::mutex compiling;
};

// |a - b| / |b| as vectors.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    length += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / length);
}

class TeamSizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, TeamSizes, testing::Values(2, 3, 5));

TEST_P(TeamSizes, EqualOneWorkerAfterFiftySteps) {
  const Cluster cluster;
  const Trained one = cluster.alone();
  const std::vector<Trained> team = cluster.train(GetParam());
  ASSERT_EQ(one.memory.steps.size(), 54U);
  ASSERT_EQ(team[0].memory.steps.size(), 54U);
  EXPECT_LT(distance(team[0].parameters, one.parameters), 1e-5);
  for (const Trained& worker : team) EXPECT_EQ(worker.parameters, team[0].parameters);
  for (std::size_t i = 0; i < one.memory.steps.size(); ++i) {
    EXPECT_EQ(team[0].memory.steps[i].batch.samples, one.memory.steps[i].batch.samples);
    EXPECT_NEAR(team[0].memory.steps[i].batch.loss, one.memory.steps[i].batch.loss, 1e-4);
  }
  EXPECT_EQ(team[0].memory.epochs.back().train.samples, 330);
  EXPECT_EQ(team[0].memory.epochs.back().test.samples, 101);
  EXPECT_EQ(team[0].memory.epochs.back().test.accuracy, one.memory.epochs.back().test.accuracy);
}

TEST(Team, EqualsOneWorkerWithUnevenSharesThatChange) {
  const Cluster cluster;
  const std::vector<Trained> team = cluster.train(3, [&](Trainer& trainer, Observer& observer, int) {
    const auto take = [&](std::vector<double> shares) {
      const std::lock_guard in_turn(cluster.compiling);
      trainer.take_shares(std::move(shares));
    };
    take({5, 1, 2});
    while (!trainer.finished()) {
      if (trainer.cursor().step == 20) take({0.3, 9, 4});
      trainer.advance(observer);
    }
  });
  EXPECT_LT(distance(team[0].parameters, cluster.alone().parameters), 1e-5);
  EXPECT_EQ(team[0].parameters, team[2].parameters);
}

TEST(Team, OptionsChangeNothingButTheWay) {
  const Cluster plain;
  const std::vector<float> one = plain.alone().parameters;
  for (const char* setting :
       {"strategy.overlap=false", "strategy.fusion_mb=0.01", "strategy.algorithm=ring", "strategy.algorithm=halving_doubling"}) {
    const Cluster cluster({setting});
    EXPECT_LT(distance(cluster.train(3)[1].parameters, one), 1e-5) << setting;
  }
}

TEST(Team, SixteenBitsOnTheWireStayNear) {
  const std::vector<float> one = Cluster().alone().parameters;
  for (const char* setting : {"strategy.wire=bf16", "strategy.wire=f16"}) {
    const std::vector<Trained> team = Cluster({setting}).train(2);
    EXPECT_EQ(team[0].parameters, team[1].parameters) << setting;
    EXPECT_LT(distance(team[0].parameters, one), 0.05) << setting;
    EXPECT_GT(distance(team[0].parameters, one), 1e-7) << setting << " rounds nothing?";
    EXPECT_EQ(team[0].memory.epochs.back().train.samples, 330) << setting;
  }
}

TEST(Team, RepeatsItselfBitByBit) {
  const Cluster cluster({"train.epochs=3"});
  EXPECT_EQ(cluster.train(3)[0].parameters, cluster.train(3)[0].parameters);
}

// The statistics of a part of the batch are not those of the whole, so weights differ; the curve must not.
TEST(Team, LossCurvesAgreeWithBatchNorm) {
  const Cluster cluster({"model.name=resnet", "model.depth=8", "data.name=synthetic_images", "data.samples=600", "data.test_samples=200",
                         "train.epochs=4", "train.optimizer.learning_rate=0.02"});
  const Trained one = cluster.alone();
  const std::vector<Trained> team = cluster.train(2);
  EXPECT_LT(team[0].memory.epochs.back().train.loss, 0.7 * team[0].memory.epochs[0].train.loss);
  for (std::size_t i = 0; i < one.memory.epochs.size(); ++i)
    EXPECT_NEAR(team[0].memory.epochs[i].train.loss, one.memory.epochs[i].train.loss, 0.15 * one.memory.epochs[i].train.loss) << i;
  EXPECT_EQ(team[0].checkpoint.states, team[1].checkpoint.states);
}

// With statistics of all workers even batch-norm computes what one worker would.
TEST(Team, EqualsOneWorkerWithSynchronizedBatchNorm) {
  const Cluster cluster({"model.name=resnet", "model.depth=8", "data.name=synthetic_images", "data.samples=200", "data.test_samples=50",
                         "train.epochs=2", "train.optimizer.learning_rate=0.02", "strategy.sync_batch_norm=true"});
  const Trained one = cluster.alone();
  const std::vector<Trained> team = cluster.train(3);
  EXPECT_LT(distance(team[0].parameters, one.parameters), 1e-3);
  EXPECT_EQ(team[0].parameters, team[2].parameters);
  EXPECT_NEAR(team[0].memory.epochs[1].train.loss, one.memory.epochs[1].train.loss, 1e-3 * one.memory.epochs[1].train.loss);
}

TEST(Team, ContinuesFromItsCheckpointAsIfNeverInterrupted) {
  const Cluster cluster({"train.epochs=3"});
  const std::vector<Trained> whole = cluster.train(3);
  const std::vector<Trained> part = cluster.train(3, [](Trainer& trainer, Observer& observer, int) {
    for (int step = 0; step < 8; ++step) trainer.advance(observer);
  });
  const std::vector<Trained> rest = cluster.train(3, [&](Trainer& trainer, Observer& observer, int) {
    trainer.restore(part[0].checkpoint);
    trainer.run(observer);
  });
  EXPECT_EQ(rest[2].parameters, whole[2].parameters);
}

// Only one worker knows; all stop after the same step.
TEST(Team, AgreesOnRequests) {
  const Cluster cluster;
  const std::vector<Trained> team = cluster.train(3, [](Trainer& trainer, Observer& observer, int rank) {
    bool stopped = false;
    while (!stopped) stopped = trainer.advance(observer, {.stop = rank == 2 && trainer.cursor().step == 6}).stop;
  });
  for (const Trained& worker : team) EXPECT_EQ(worker.memory.steps.size(), 7U);
}

TEST(Team, LocalSgdDriftsAndComesTogether) {
  const Cluster cluster({"strategy.name=local_sgd", "strategy.steps=4", "data.samples=2000", "train.epochs=3"});
  const std::vector<Trained> team = cluster.train(3);
  EXPECT_EQ(team[0].parameters, team[1].parameters);
  EXPECT_EQ(team[0].parameters, team[2].parameters);
  EXPECT_LT(team[0].memory.epochs.back().train.loss, 0.8 * team[0].memory.epochs[0].train.loss);
  EXPECT_EQ(team[0].memory.epochs.back().train.samples, 2000);
}

// Every entry of the catalogue that is for several workers: together they are as near to one as the entry promises, and all end alike.
TEST(Team, EveryStrategyKeepsItsPromise) {
  for (const StrategyEntry& entry : strategies::catalog()) {
    if (entry.name == "local") continue;
    const Cluster cluster({fmt::format("strategy.name={}", entry.name), "data.samples=1000", "train.epochs=4"});
    const Trained one = cluster.alone();
    const std::vector<Trained> team = cluster.train(3);
    for (const Trained& worker : team) EXPECT_EQ(worker.parameters, team[0].parameters) << entry.name;
    EXPECT_LT(distance(team[0].parameters, one.parameters), entry.consistency == Consistency::exact ? 1e-5 : 1.0) << entry.name;
    EXPECT_LT(team[0].memory.epochs.back().train.loss, 0.8 * team[0].memory.epochs[0].train.loss) << entry.name;
    EXPECT_NEAR(team[0].memory.epochs.back().test.accuracy, one.memory.epochs.back().test.accuracy, 0.25) << entry.name;
    EXPECT_EQ(team[0].memory.epochs.back().train.samples, 1000) << entry.name;
  }
}

TEST(Team, LocalIsForOne) {
  EXPECT_THAT(thrown_error([] { Cluster({"strategy.name=local"}).train(2); }), testing::HasSubstr("take allreduce"));
}

// The second worker's clock makes it look four times as slow.
TEST(Team, AStragglerIsNamedAndItsShareShrinks) {
  Cluster cluster({"data.samples=2000", "train.epochs=3"});
  cluster.slowness = 3;
  const std::vector<Trained> team = cluster.train(2);
  ASSERT_FALSE(team[0].memory.stragglers.empty());
  EXPECT_EQ(team[0].memory.stragglers[0].rank, 1);
  EXPECT_GT(team[0].memory.stragglers[0].slowness, 2);
  EXPECT_LT(team[0].memory.stragglers[0].share, 0.4);
  EXPECT_LT(distance(team[0].parameters, cluster.alone().parameters), 1e-5);
}

// The second worker's clock makes it look four times as slow.
TEST(Team, FasterWorkersTakeMoreOfABatch) {
  Cluster cluster({"strategy.shares=speed", "data.samples=2000", "train.epochs=1"});
  cluster.slowness = 3;
  const std::vector<Trained> team = cluster.train(2);
  ASSERT_EQ(team[0].shares.size(), 2U);
  EXPECT_GT(team[0].shares[0], 1.5 * team[0].shares[1]);
  EXPECT_EQ(team[0].shares, team[1].shares);
  EXPECT_EQ(team[0].memory.epochs[0].train.samples, 2000);
  EXPECT_LT(distance(team[0].parameters, cluster.alone().parameters), 1e-5);
}

Team meet(comm::Store& store, int rank, int size, std::uint64_t generation) {
  const comm::Group group{.rank = rank, .size = size, .generation = generation, .address = "127.0.0.1", .key = "a key of this test's own"};
  return {comm::Communicator::connect(store, group, Seconds(20)), Seconds(20), generation};
}

// A team breaks, each goes on for as many steps as its rank, then they meet again.
TEST(Team, GoesOnWithTheStateOfTheFurthestWorker) {
  const Cluster cluster({"train.epochs=1"});
  comm::MemoryStore store;
  const std::vector<Trained> team = cluster.train(3, [&](Trainer& trainer, Observer& observer, int rank) {
    for (int i = 0; i < 3; ++i) trainer.advance(observer);
    trainer.enter(Team::alone());
    for (int i = 0; i < rank; ++i) trainer.advance(observer);
    EXPECT_EQ(trainer.enter(meet(store, rank, 3, 2)), 2);
    EXPECT_EQ(trainer.cursor().step, 5);
    trainer.run(observer);
  });
  for (const Trained& worker : team) EXPECT_EQ(worker.parameters, team[0].parameters);
  EXPECT_EQ(team[0].checkpoint.generation, 2);
  EXPECT_EQ(team[0].memory.epochs[0].train.samples, cluster.data.train->size());
}

// What workers did after a checkpoint of a later generation than theirs is a past that was given up.
TEST(Team, ACheckpointOfALaterGenerationCountsMoreThanWhatWorkersHave) {
  const Cluster cluster({"train.epochs=1"});
  comm::MemoryStore store;
  const std::vector<Trained> team = cluster.train(2, [&](Trainer& trainer, Observer& observer, int rank) {
    for (int i = 0; i < 2; ++i) trainer.advance(observer);
    Checkpoint checkpoint = trainer.checkpoint();
    checkpoint.generation = 7;
    for (int i = 0; i < 3; ++i) trainer.advance(observer);
    const auto committed = [&](const Position& newer_than) {
      EXPECT_EQ(rank, 0) << "only the first asks";
      EXPECT_EQ(newer_than.step, 5);
      return std::optional(checkpoint);
    };
    EXPECT_EQ(trainer.enter(meet(store, rank, 2, 8), committed), 0);
    EXPECT_EQ(trainer.cursor().step, 2);
    trainer.run(observer);
  });
  EXPECT_EQ(team[0].parameters, team[1].parameters);
}

TEST(Position, OfALaterGenerationIsFurther) {
  const Position nowhere;
  const Position early{.generation = 1, .step = 100, .epoch = 3};
  const Position late{.generation = 2, .step = 50, .epoch = 1};
  EXPECT_LT(nowhere, early);
  EXPECT_LT(early, late);
  EXPECT_LT(late, (Position{.generation = 2, .step = 51, .epoch = 1}));
}

TEST(SpeedShares, FindTheStraggler) {
  EXPECT_FALSE(find_straggler({100, 60, 90}));
  const auto straggler = find_straggler({100, 90, 20});
  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->rank, 2);
  EXPECT_DOUBLE_EQ(straggler->slowness, 4.5);
  EXPECT_EQ(find_straggler({10, 100})->rank, 0);
}

TEST(SpeedShares, FollowSpeedInWholeUnits) {
  EXPECT_THAT(shares_by_speed(128, {100, 100}), testing::ElementsAre(64, 64));
  EXPECT_THAT(shares_by_speed(128, {300, 100}), testing::ElementsAre(96, 32));
  EXPECT_THAT(shares_by_speed(128, {1000, 1}), testing::ElementsAre(128, 2));  // nobody is left without work
  EXPECT_THAT(shares_by_speed(8, {2, 1, 1}), testing::ElementsAre(4, 2, 2));
}

}  // namespace
}  // namespace trireme::train
