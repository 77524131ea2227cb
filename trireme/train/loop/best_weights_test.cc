// SPDX-License-Identifier: Apache-2.0
// Weights of the best epoch: the same with every strategy, for workers that come later, and after a resumption.
#include <gmock/gmock.h>

#include <algorithm>
#include <barrier>

#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

// No later epoch is so much better than the first.
const std::vector<std::string> kFirstIsBest{"train.epochs=3", "data.validation=30", "train.early_stopping.min_change=1000"};

std::vector<std::string> first_is_best(std::vector<std::string> more) {
  more.insert(more.end(), kFirstIsBest.begin(), kFirstIsBest.end());
  return more;
}

// The weights at the end of the first epoch, as the worker that reports it has them.
class FirstEpoch final : public Observer {
 public:
  explicit FirstEpoch(const Trainer& trainer) : trainer_(trainer) {}
  void epoch(const EpochRecord& record) override {
    if (record.epoch == 0) parameters = trainer_.replica().parameters();
  }
  std::vector<float> parameters;

 private:
  const Trainer& trainer_;
};

class BestWeightsOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, BestWeightsOf, testing::Values("allreduce", "local_sgd", "ps"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(BestWeightsOf, AreThoseOfTheBestEpochAtEveryWorker) {
  std::vector<std::string> settings = first_is_best({std::string("strategy.name=") + GetParam()});
  if (GetParam() == std::string("ps")) settings.insert(settings.end(), {"strategy.servers=0", "strategy.placement=shared"});
  const Cluster cluster(settings);
  std::mutex mutex;
  std::vector<float> first;
  const std::vector<Trained> team = cluster.train(3, [&](Trainer& trainer, Observer&, int) {
    FirstEpoch observer(trainer);
    run_to_end(trainer, observer);
    const std::lock_guard lock(mutex);
    if (trainer.team().is_lead()) first = observer.parameters;
  });
  for (const Trained& worker : team) {
    EXPECT_EQ(worker.checkpoint.cursor.best_epoch, 0);
    ASSERT_NE(worker.checkpoint.best, nullptr);
    EXPECT_EQ(worker.checkpoint.best->parameters, first);
  }
  EXPECT_NE(team[0].parameters, first);
}

TEST(BestWeights, OfSeveralWorkersAreThoseOfOne) {
  const Cluster cluster(first_is_best({}));
  Trainer one({.job = cluster.job, .data = cluster.data, .clock = cluster.clock}, cluster.cache());
  Memory memory;
  run_to_end(one, memory);
  const std::vector<Trained> team = cluster.train(2);
  EXPECT_LT(distance(team[1].checkpoint.best->parameters, one.checkpoint().best->parameters), 1e-5);
}

TEST(BestWeights, GoToAWorkerThatComesLater) {
  const Cluster cluster(first_is_best({}));
  comm::MemoryStore second;
  std::vector<std::shared_ptr<const KeptWeights>> kept(2);
  const auto take_part = [&](int rank) {
    Trainer trainer({.job = cluster.job, .data = cluster.data, .clock = cluster.clock, .team_follows = true}, cluster.cache());
    Memory memory;
    if (rank == 1) trainer.enter(Team::alone());
    while (rank == 1 && trainer.cursor().step < 7) trainer.advance(memory);
    {
      const std::lock_guard in_turn(cluster.compiling);
      trainer.prepare(rank, 2);
    }
    trainer.enter(cluster.meet({.store = second, .rank = rank, .size = 2, .generation = 2}));
    kept[static_cast<std::size_t>(rank)] = trainer.checkpoint().best;
  };
  {
    const std::jthread newcomer([&] { take_part(0); });
    take_part(1);
  }
  ASSERT_NE(kept[0], nullptr);
  EXPECT_EQ(kept[0]->parameters, kept[1]->parameters);
}

// The one that has them is not the one whose state it is: that began from a checkpoint.
TEST(BestWeights, ComeWithACheckpoint) {
  const Cluster cluster(first_is_best({}));
  Trainer before({.job = cluster.job, .data = cluster.data, .clock = cluster.clock}, cluster.cache());
  Memory memory;
  while (before.cursor().step < 8) before.advance(memory);
  const Checkpoint checkpoint = before.checkpoint();
  ASSERT_NE(checkpoint.best, nullptr);
  comm::MemoryStore store;
  std::vector<std::shared_ptr<const KeptWeights>> kept(2);
  const auto resume = [&](int rank) {
    Trainer trainer({.job = cluster.job, .data = cluster.data, .clock = cluster.clock, .team_follows = true}, cluster.cache());
    {
      const std::lock_guard in_turn(cluster.compiling);
      trainer.prepare(rank, 2);
    }
    trainer.enter(cluster.meet({.store = store, .rank = rank, .size = 2, .generation = 1}),
                  [&](const Position&) { return std::optional<Checkpoint>(checkpoint); });
    kept[static_cast<std::size_t>(rank)] = trainer.checkpoint().best;
  };
  {
    const std::jthread other([&] { resume(1); });
    resume(0);
  }
  for (const auto& weights : kept) {
    ASSERT_NE(weights, nullptr);
    EXPECT_EQ(weights->parameters, checkpoint.best->parameters);
  }
}

TEST(BestWeights, AreTestedIfValidationChoseThem) {
  const auto test = [](const std::vector<std::string>& settings) {
    const Cluster cluster(settings);
    Trainer trainer({.job = cluster.job, .data = cluster.data, .clock = cluster.clock}, cluster.cache());
    Memory memory;
    run_to_end(trainer, memory);
    return trainer.test().loss;
  };
  const double first = test({"train.epochs=1", "data.validation=30"});
  EXPECT_NEAR(test(kFirstIsBest), first, 1e-4);
  EXPECT_GT(std::abs(test(first_is_best({"train.keep_best=false"})) - first), 1e-3);
  // Nothing but the test samples chose them: their score there would be too good.
  EXPECT_GT(std::abs(test({"train.epochs=3", "train.early_stopping.min_change=1000"}) - first), 1e-3);
}

TEST(BestWeights, AreNotKeptIfTheJobSaysSo) {
  const Cluster keeps(first_is_best({}));
  Trainer first({.job = keeps.job, .data = keeps.data, .clock = keeps.clock}, keeps.cache());
  Memory memory;
  while (first.cursor().epoch < 1) first.advance(memory);
  const Cluster cluster(first_is_best({"train.keep_best=false"}));
  Trainer trainer({.job = cluster.job, .data = cluster.data, .clock = cluster.clock}, keeps.cache());
  trainer.restore(first.checkpoint());
  EXPECT_EQ(trainer.checkpoint().best, nullptr);
  run_to_end(trainer, memory);
  EXPECT_EQ(trainer.checkpoint().best, nullptr);
}

}  // namespace
}  // namespace trireme::train
