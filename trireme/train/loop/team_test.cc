// SPDX-License-Identifier: Apache-2.0
// Several workers against one: the same weights, whatever their number, their shares and the last batch.
#include "trireme/train/team/team.h"

#include <gmock/gmock.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/team/speed_shares.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

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

// Also where a worker has one sample of the last batch, or none of some class.
TEST_P(TeamSizes, EqualOneWorkerWithClassWeights) {
  const Cluster weighted({"train.epochs=3", "train.class_weights=[3, 0.2, 1, 1, 0, 1, 1, 1, 1, 5]"});
  const Trained one = weighted.alone();
  const std::vector<Trained> team = weighted.train(GetParam());
  EXPECT_LT(distance(team[0].parameters, one.parameters), 1e-5);
  EXPECT_NEAR(team[0].memory.epochs.back().train.loss, one.memory.epochs.back().train.loss, 1e-5);
  EXPECT_GT(distance(one.parameters, Cluster({"train.epochs=3"}).alone().parameters), 1e-2);
}

TEST(Team, EqualsOneWorkerWithUnevenSharesThatChange) {
  const Cluster cluster;
  const std::vector<Trained> team = cluster.train(3, [&](Trainer& trainer, Observer& observer, int) {
    const auto take = [&](std::vector<double> shares) {
      const std::lock_guard in_turn(cluster.compiling);
      trainer.apply_shares(std::move(shares));
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

// Ten steps on three workers: how often each layer's statistics were updated, as the checkpoint says. The same on all workers.
std::vector<float> updates_with(const char* strategy) {
  const Cluster cluster({"strategy.name=switch", fmt::format("strategy.schedule=['{}']", strategy),
                         "model={name='resnet',depth=8,batch_norm_momentum=0.99}", "data.name=synthetic_images", "data.samples=200",
                         "data.test_samples=8", "train.epochs=2", "train.batch_size=40", "train.optimizer.learning_rate=0.01"});
  const std::vector<Trained> team = cluster.train(3);
  for (const Trained& worker : team) EXPECT_EQ(worker.checkpoint.states, team[0].checkpoint.states);
  std::vector<float> updates;
  for (const Slice& slice : cluster.job.graph.states().slices()) {
    if (slice.name.ends_with("/updates")) updates.push_back(team[0].checkpoint.states[static_cast<std::size_t>(slice.offset)]);
  }
  return updates;
}

// A third and a third and a third of a count is not the count to the bit.
TEST(Team, CountsTheUpdatesOfStatistics) {
  for (const char* strategy : {"allreduce", "ps:bsp", "local_sgd:2"})
    EXPECT_THAT(updates_with(strategy), testing::AllOf(testing::SizeIs(7), testing::Each(testing::FloatNear(10, 1e-4)))) << strategy;
}

// Each of 32 leases is one update of one worker.
TEST(Team, CountsUpdatesOfEachWorkerOutOfStep) {
  EXPECT_THAT(updates_with("ps:async"), testing::AllOf(testing::SizeIs(7), testing::Each(testing::AllOf(testing::Gt(0), testing::Le(32)))));
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
    run_to_end(trainer, observer);
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
    // What is exact is so in every step; the others need time to come near, the more the busier the machine is.
    const int epochs = entry.consistency == Consistency::exact ? 4 : 12;
    const Cluster cluster({fmt::format("strategy.name={}", entry.name), "data.samples=1000", fmt::format("train.epochs={}", epochs)});
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

// A team breaks, each goes on for as many steps as its rank, then they meet again.
TEST(Team, GoesOnWithTheStateOfTheFurthestWorker) {
  const Cluster cluster({"train.epochs=1"});
  comm::MemoryStore store;
  const std::vector<Trained> team = cluster.train(3, [&](Trainer& trainer, Observer& observer, int rank) {
    for (int i = 0; i < 3; ++i) trainer.advance(observer);
    trainer.enter(Team::alone());
    for (int i = 0; i < rank; ++i) trainer.advance(observer);
    EXPECT_EQ(trainer.enter(cluster.meet({.store = store, .rank = rank, .size = 3, .generation = 2})), 2);
    EXPECT_EQ(trainer.cursor().step, 5);
    run_to_end(trainer, observer);
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
    EXPECT_EQ(trainer.enter(cluster.meet({.store = store, .rank = rank, .size = 2, .generation = 8}), committed), 0);
    EXPECT_EQ(trainer.cursor().step, 2);
    run_to_end(trainer, observer);
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
  EXPECT_FALSE(find_straggler({100, 90, kUnknownSpeed, 80})) << "who had nothing to compute is not slow";
  EXPECT_EQ(find_straggler({100, 90, kUnknownSpeed, 20})->rank, 3);
  EXPECT_FALSE(find_straggler({kUnknownSpeed, 90}));
}

TEST(SpeedShares, FollowSpeedInWholeUnits) {
  EXPECT_THAT(shares_by_speed(128, {100, 100}), testing::ElementsAre(64, 64));
  EXPECT_THAT(shares_by_speed(128, {300, 100}), testing::ElementsAre(96, 32));
  EXPECT_THAT(shares_by_speed(128, {1000, 1}), testing::ElementsAre(128, 2));  // no worker is left without work
  EXPECT_THAT(shares_by_speed(8, {2, 1, 1}), testing::ElementsAre(4, 2, 2));
  EXPECT_THAT(shares_by_speed(120, {100, kUnknownSpeed, 50}), testing::ElementsAre(53, 40, 27));
}

TEST(SpeedShares, StayEqualIfAStragglerIsDealtWithOtherwise) {
  EXPECT_EQ(shares_rule("automatic", "shares"), SpeedShares::Rule::automatic);
  EXPECT_EQ(shares_rule("automatic", "drop"), SpeedShares::Rule::equal);
  EXPECT_EQ(shares_rule("automatic", "async"), SpeedShares::Rule::equal);
  EXPECT_EQ(shares_rule("speed", "drop"), SpeedShares::Rule::speed);
}

}  // namespace
}  // namespace trireme::train
