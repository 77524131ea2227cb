// SPDX-License-Identifier: Apache-2.0
// Training with parameter servers: in step it is allreduce; out of step every sample counts once, whichever node is lost.
#include "trireme/train/servers/parameter_servers.h"

#include <gmock/gmock.h>

#include <atomic>
#include <set>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

using testing::HasSubstr;

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

struct Layout {
  int nodes;
  std::vector<std::string> settings;
};
class Layouts : public testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(Nodes, Layouts,
                         testing::Values(Layout{4, {"strategy.servers=1"}}, Layout{5, {"strategy.servers=2"}},
                                         Layout{3, {"strategy.servers=0", "strategy.placement=shared"}},
                                         Layout{3, {"strategy.servers=1", "strategy.placement=shared"}},
                                         Layout{2, {"strategy.servers=1"}}));

TEST_P(Layouts, InStepTheyAreOneWorker) {
  const Cluster cluster(with({"strategy.name=ps", "strategy.mode=bsp", "strategy.min_shard_bytes=4096"}, GetParam().settings));
  const Trained one = cluster.alone();
  const std::vector<Trained> team = cluster.train(GetParam().nodes);
  ASSERT_EQ(team[0].memory.steps.size(), one.memory.steps.size());
  for (std::size_t i = 0; i < one.memory.steps.size(); ++i) {
    EXPECT_EQ(team[0].memory.steps[i].batch.samples, one.memory.steps[i].batch.samples);
    EXPECT_NEAR(team[0].memory.steps[i].batch.loss, one.memory.steps[i].batch.loss, 1e-4);
  }
  EXPECT_LT(distance(team[0].parameters, one.parameters), 1e-5);
  for (const Trained& node : team) EXPECT_EQ(node.parameters, team[0].parameters);
  EXPECT_EQ(team[0].memory.epochs.back().test.accuracy, one.memory.epochs.back().test.accuracy);
}

TEST(ParameterServers, ABoundOfZeroIsInStep) {
  const Cluster cluster({"strategy.name=ps", "strategy.mode=ssp", "strategy.staleness=0"});
  EXPECT_LT(distance(cluster.train(3)[0].parameters, cluster.alone().parameters), 1e-5);
}

// What has been used, by epoch.
struct Usage {
  PushEvents events() {
    return {.used = [this](const ps::WorkDone& done, std::int64_t epoch) {
      const std::lock_guard lock(mutex);
      for (std::int64_t sample = done.lease.begin; sample < done.lease.end; ++sample) ++times[{epoch, sample}];
      workers.insert(done.worker);
    }};
  }
  void expect_every_sample_once(std::int64_t epochs, std::int64_t samples) const {
    EXPECT_EQ(static_cast<std::int64_t>(times.size()), epochs * samples);
    for (const auto& [place, count] : times) EXPECT_EQ(count, 1) << "epoch " << place.first << ", sample " << place.second;
  }
  std::mutex mutex;
  std::map<std::pair<std::int64_t, std::int64_t>, int> times;
  std::set<std::string> workers;
};

class Modes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Modes, testing::Values("async", "ssp", "dssp", "bsp"), [](const auto& mode) { return mode.param; });

TEST_P(Modes, UseEverySampleOnceAndLearn) {
  Cluster cluster({"strategy.name=ps", "strategy.mode=" + GetParam(), "strategy.staleness=1", "strategy.staleness_min=1",
                   "strategy.staleness_max=4", "data.samples=1003", "train.epochs=5"});
  Usage usage;
  cluster.events = usage.events();
  const std::vector<Trained> team = cluster.train(4);
  usage.expect_every_sample_once(5, 1003);
  EXPECT_EQ(usage.workers.size(), GetParam() == "bsp" ? 1U : 3U);  // in step no worker's alone
  for (const EpochRecord& epoch : team[0].memory.epochs) EXPECT_EQ(epoch.train.samples, 1003);
  EXPECT_LT(team[0].memory.epochs.back().train.loss, 0.8 * team[0].memory.epochs[0].train.loss);
  for (const Trained& node : team) EXPECT_EQ(node.parameters, team[0].parameters);
  ASSERT_EQ(team[0].memory.servers.size(), 5U);
  const ServerRecord& record = team[0].memory.servers.back();
  EXPECT_GT(record.pushes, 30);
  EXPECT_GT(record.bytes_in, record.pushes * record.parameter_bytes / 2);
  const std::int64_t bound = GetParam() == "ssp" ? 1 : GetParam() == "dssp" ? 5 : 1000;
  EXPECT_LE(record.most_ahead, bound);
}

TEST(ParameterServers, ABackupWorkerIsNotWaitedFor) {
  Cluster cluster({"strategy.name=ps", "strategy.mode=bsp", "strategy.backup_workers=1", "data.samples=1000", "train.epochs=3"});
  Usage usage;
  cluster.events = usage.events();
  const std::vector<Trained> team = cluster.train(4);
  usage.expect_every_sample_once(3, 1000);
  EXPECT_LT(team[0].memory.epochs.back().train.loss, 0.9 * team[0].memory.epochs[0].train.loss);
}

TEST(ParameterServers, StatisticsOfAllWorkersAreOne) {
  const Cluster cluster({"strategy.name=ps", "model.name=resnet", "model.depth=8", "data.name=synthetic_images", "data.samples=200",
                         "data.test_samples=50", "train.epochs=1", "train.batch_size=40"});
  const std::vector<Trained> team = cluster.train(3);
  ASSERT_FALSE(team[0].checkpoint.states.empty());
  for (const Trained& node : team) {
    EXPECT_EQ(node.checkpoint.states, team[0].checkpoint.states);
    EXPECT_EQ(node.checkpoint.slots, team[0].checkpoint.slots);
  }
}

TEST(ParameterServers, ARequestIsAgreedAndACheckpointGoesOnElsewhere) {
  const Cluster cluster({"strategy.name=ps", "data.samples=10000", "train.epochs=2"});
  const std::vector<Trained> team = cluster.train(3, [](Trainer& trainer, Observer& observer, int) {
    bool stopped = false;
    while (!stopped) stopped = trainer.advance(observer, {.stop = trainer.team().is_lead() && trainer.cursor().step >= 10}).stop;
  });
  const Checkpoint& checkpoint = team[0].checkpoint;
  EXPECT_GE(checkpoint.cursor.step, 10);
  EXPECT_GT(checkpoint.cursor.epoch_offset, 0);
  EXPECT_EQ(checkpoint.cursor.samples_seen, checkpoint.cursor.epoch_offset);
  for (const Trained& node : team) EXPECT_EQ(node.checkpoint.cursor.step, checkpoint.cursor.step);

  const Cluster in_step({"data.samples=10000", "train.epochs=2"});
  comm::MemoryStore store;
  const std::vector<Trained> rest = in_step.train(2, [&](Trainer& trainer, Observer& observer, int rank) {
    trainer.enter(in_step.meet({.store = store, .rank = rank, .size = 2, .generation = 2}),
                  [&](const Position&) { return std::optional(checkpoint); });
    EXPECT_EQ(trainer.cursor().epoch_offset, checkpoint.cursor.epoch_offset);
    run_to_end(trainer, observer);
  });
  ASSERT_EQ(rest[0].memory.epochs.size(), 2U);
  for (const EpochRecord& epoch : rest[0].memory.epochs) EXPECT_EQ(epoch.train.samples, 10000);
}

struct Survivor {
  Memory memory;
  std::vector<float> parameters;
  int root = -1;
  Cursor cursor;  // after the second entry
};

// Four nodes train; one goes after some steps, and the others make the next generation without it.
std::vector<Survivor> train_and_lose(const Cluster& cluster, int lost, const std::optional<Checkpoint>& committed) {
  constexpr int kNodes = 4;
  comm::MemoryStore first;
  comm::MemoryStore second;
  const auto over = std::make_shared<comm::Cancellation>();
  std::vector<Survivor> out(kNodes);
  const auto committed_one = [&](const Position&) { return committed; };
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kNodes; ++rank)
      threads.emplace_back([&, rank] {
        Survivor& own = out[static_cast<std::size_t>(rank)];
        auto trainer = std::make_unique<Trainer>(
            Trainer::Setup{
                .job = cluster.job, .data = cluster.data, .clock = cluster.clock, .team_follows = true, .events = cluster.events},
            cluster.cache());
        trainer->enter(cluster.meet({.store = first, .rank = rank, .size = kNodes, .cancellation = over}), committed_one);
        if (rank == lost) {
          const bool computes = trainer->team().shares[static_cast<std::size_t>(rank)] > 0;
          for (int i = 0; i < (computes ? 8 : 1); ++i) trainer->advance(own.memory);  // a server's takes its time
          trainer.reset();
          over->cancel();
          return;
        }
        try {
          run_to_end(*trainer, own.memory);
          ADD_FAILURE() << "no node was missed";
        } catch (const Error&) {
        }
        std::vector<std::string> nodes;
        for (int i = 0; i < kNodes; ++i)
          if (i != lost) nodes.push_back(fmt::format("{}", i));
        own.root = trainer->enter(
            cluster.meet({.store = second, .rank = rank - (rank > lost ? 1 : 0), .size = kNodes - 1, .generation = 2, .nodes = nodes}),
            committed_one);
        own.cursor = trainer->cursor();
        run_to_end(*trainer, own.memory);
        own.parameters.assign(trainer->replica().parameters().begin(), trainer->replica().parameters().end());
      });
  }
  out.erase(out.begin() + lost);
  return out;
}

TEST_P(Modes, ALostWorkerChangesNothingButSpeed) {
  Cluster cluster({"strategy.name=ps", "strategy.mode=" + GetParam(), "data.samples=2000", "train.epochs=2"});
  Usage usage;
  cluster.events = usage.events();
  const std::vector<Survivor> team = train_and_lose(cluster, 2, std::nullopt);
  EXPECT_GT(team[0].cursor.step, 0) << "it went on where it was";
  usage.expect_every_sample_once(2, 2000);
  for (const Survivor& node : team) EXPECT_EQ(node.parameters, team[0].parameters);
  ASSERT_EQ(team[0].memory.epochs.size(), 2U);
  EXPECT_EQ(team[0].memory.epochs[0].train.samples, 2000);
}

TEST(ParameterServers, ALostServerMeansTheLastCheckpointForAll) {
  Cluster cluster({"strategy.name=ps", "strategy.servers=2", "data.samples=2000", "train.epochs=6"});
  const Checkpoint begun =
      cluster
          .train(3,
                 [](Trainer& trainer, Observer& observer, int) {
                   bool stopped = false;
                   while (!stopped)
                     stopped = trainer.advance(observer, {.stop = trainer.team().is_lead() && trainer.cursor().step >= 5}).stop;
                 })[0]
          .checkpoint;
  const std::vector<Survivor> team = train_and_lose(cluster, 1, begun);
  for (const Survivor& node : team) {
    EXPECT_EQ(node.cursor.step, begun.cursor.step);
    EXPECT_EQ(node.parameters, team[0].parameters);
  }
  EXPECT_EQ(team[0].memory.epochs.back().train.samples, 2000);
}

// Where a server was before it died.
class DeadServer final : public comm::Store {
 public:
  DeadServer(comm::Store& store, comm::Cancellation& over) : store_(store), over_(over) {}
  void set(const std::string& key, const std::string& value) override { store_.set(key, value); }
  std::string get(const std::string& key, Seconds timeout) override {
    if (!key.starts_with("parameters/")) return store_.get(key, timeout);
    over_.cancel();  // all learn of it while this one tries to get there
    return "127.0.0.1:1";
  }

 private:
  comm::Store& store_;
  comm::Cancellation& over_;
};

TEST(ParameterServers, ANodeThatCannotReachAServerLearnsOfTheNextGeneration) {
  const Cluster cluster({"strategy.name=ps"});
  comm::MemoryStore store;
  const auto over = std::make_shared<comm::Cancellation>();
  DeadServer elsewhere(store, *over);
  std::vector<ErrorCode> ends(2, ok);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, rank] {
        Trainer trainer({.job = cluster.job, .data = cluster.data, .clock = cluster.clock, .team_follows = true}, cluster.cache());
        comm::Store& own = rank == 0 ? static_cast<comm::Store&>(store) : elsewhere;
        trainer.enter(cluster.meet({.store = own, .rank = rank, .size = 2, .cancellation = over}));
        Memory memory;
        try {
          run_to_end(trainer, memory);
        } catch (const Error& error) {
          ends[static_cast<std::size_t>(rank)] = error.code();
        }
      });
  }
  EXPECT_THAT(ends, testing::ElementsAre(cancelled, cancelled)) << "not the end of the timeout";
}

TEST(ParameterServers, AMistakeInTheOptionsIsReported) {
  EXPECT_THAT(thrown_error([] {
                team_job({"strategy.name=ps", "strategy.mode=dssp", "strategy.staleness_max=1"});
              }),
              HasSubstr("below staleness_min"));
  EXPECT_THAT(thrown_error([] { team_job({"strategy.name=ps", "strategy.backup_workers=1"}); }), HasSubstr("for mode = \"bsp\""));
  EXPECT_THAT(thrown_error([] { team_job({"strategy.name=ps", "strategy.mode=asynch"}); }), HasSubstr("async"));
}

}  // namespace
}  // namespace trireme::train
