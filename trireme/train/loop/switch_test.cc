// SPDX-License-Identifier: Apache-2.0
// From one strategy to another: between exact ones nothing changes, and whatever the pair, every sample counts once.
#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <set>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

// A store for each generation, as a coordinator has it.
class Stores {
 public:
  comm::Store& at(std::uint64_t generation) {
    const std::lock_guard lock(mutex_);
    auto& store = stores_[generation];
    if (store == nullptr) store = std::make_unique<comm::MemoryStore>();
    return *store;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<comm::MemoryStore>> stores_;
};

// Samples by epoch, as workers used them.
class Usage {
 public:
  void add(std::int64_t epoch, std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex_);
    for (std::int64_t sample = begin; sample < end; ++sample) ++times_[{epoch, sample}];
  }
  bool is_each_once(std::int64_t epochs, std::int64_t samples) const {
    return static_cast<std::int64_t>(times_.size()) == epochs * samples &&
           std::ranges::all_of(times_, [](const auto& used) { return used.second == 1; });
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> times_;
};

class SwitchTeam {
 public:
  explicit SwitchTeam(const std::vector<std::string>& settings) : cluster_(settings) {
    cluster_.events.used = [this](const ps::WorkDone& done, std::int64_t epoch) { usage_.add(epoch, done.lease.begin, done.lease.end); };
  }

  // Worker `lost` does not come to generation 2.
  std::vector<Trained> train(int size, int lost = -1) {
    return cluster_.train(size, [&](Trainer& trainer, Observer& observer, int rank) {
      std::uint64_t generation = 1;
      int place = rank;
      int workers = size;
      while (!trainer.finished()) {
        const std::int64_t step = trainer.cursor().step;
        const Requests agreed = trainer.advance(observer);
        if (!trainer.team().is_by_lease && trainer.cursor().step > step && trainer.team().rank == 0) {
          const LastBatch& batch = trainer.team().last_batch;
          usage_.add(batch.epoch, batch.offset, batch.offset + batch.whole);
        }
        if (!agreed.regroup) continue;
        trainer.abandon();
        const bool is_one_less = ++generation == 2 && lost >= 0;
        if (is_one_less && rank == lost) {
          trainer.enter(Team::alone());
          return;
        }
        if (is_one_less) {
          --workers;
          place -= rank > lost ? 1 : 0;
        }
        const std::vector<std::string> all{"0", "1", "2"};
        std::vector<std::string> nodes(all.begin(), all.begin() + size);
        if (lost >= 0) nodes.erase(nodes.begin() + lost);
        trainer.enter(
            cluster_.meet({.store = stores_.at(generation), .rank = place, .size = workers, .generation = generation, .nodes = nodes}));
        if (entered) entered(trainer);
      }
    });
  }

  const Cluster& cluster() const { return cluster_; }
  bool used_each_sample_once() const { return usage_.is_each_once(cluster_.job.train.epochs, cluster_.data.train->size()); }

  std::function<void(Trainer&)> entered;

 private:
  Cluster cluster_;
  Stores stores_;
  Usage usage_;
};

std::vector<std::string> schedule(const std::string& list) { return {"strategy.name=switch", "strategy.schedule=" + list}; }

// Two samples for three workers, of which another computes nothing in each strategy.
TEST(Switch, WithBatchesOfFewerSamplesThanWorkers) {
  std::vector<std::string> settings = schedule("['allreduce', 'ps:bsp at 0.25', 'local_sgd:4 at 0.5', 'ps:async at 0.75']");
  for (const char* more :
       {"train.batch_size=2", "data.samples=25", "data.test_samples=11", "train.epochs=4", "train.optimizer.learning_rate=0.01"})
    settings.emplace_back(more);
  SwitchTeam team(settings);
  const std::vector<Trained> switched = team.train(3);
  EXPECT_EQ(switched[0].memory.switches.size(), 3U);
  EXPECT_TRUE(team.used_each_sample_once());
  for (const EpochRecord& epoch : switched[0].memory.epochs) EXPECT_EQ(epoch.test.samples, 11);
  for (const Trained& worker : switched) EXPECT_EQ(worker.parameters, switched[0].parameters);
}

TEST(Switch, BetweenExactStrategiesItChangesNothing) {
  SwitchTeam team(
      schedule("['allreduce', 'ps:bsp at 0.25', 'allreduce at 0.5', 'ps:bsp,servers=1,placement=dedicated at 7', 'allreduce at 8']"));
  const std::vector<Trained> switched = team.train(3);
  const std::vector<Trained> undisturbed = Cluster().train(3);
  ASSERT_EQ(switched[0].memory.steps.size(), undisturbed[0].memory.steps.size());
  for (std::size_t i = 0; i < switched[0].memory.steps.size(); ++i)
    EXPECT_NEAR(switched[0].memory.steps[i].batch.loss, undisturbed[0].memory.steps[i].batch.loss, 1e-4) << "step " << i + 1;
  EXPECT_LT(distance(switched[0].parameters, undisturbed[0].parameters), 1e-5);
  EXPECT_EQ(switched[0].checkpoint.cursor.step, undisturbed[0].checkpoint.cursor.step);
  for (const Trained& worker : switched) EXPECT_EQ(worker.parameters, switched[0].parameters);
  EXPECT_TRUE(team.used_each_sample_once());
  EXPECT_EQ(switched[0].memory.switches.size(), 4U);
}

// No running statistic begins anew at a switch.
TEST(Switch, CarriesTheCountOfUpdatesOfStatistics) {
  std::vector<std::string> settings = schedule("['allreduce', 'ps:bsp at 0.25', 'local_sgd:2 at 0.5', 'allreduce at 0.75']");
  for (const char* more : {"model={name='resnet',depth=8,batch_norm_momentum=0.99}", "data.name=synthetic_images", "data.samples=180",
                           "data.test_samples=8", "train.batch_size=40", "train.epochs=4", "train.optimizer.learning_rate=0.01"})
    settings.emplace_back(more);
  SwitchTeam team(settings);
  const std::vector<Trained> switched = team.train(3);
  ASSERT_EQ(switched[0].memory.switches.size(), 3U);
  for (const Slice& slice : team.cluster().job.graph.states().slices()) {
    if (!slice.name.ends_with("/updates")) continue;
    for (const Trained& worker : switched)
      EXPECT_NEAR(worker.checkpoint.states[static_cast<std::size_t>(slice.offset)], worker.checkpoint.cursor.step, 1e-4) << slice.name;
  }
}

class Pairs : public testing::TestWithParam<std::pair<std::string, std::string>> {};
std::vector<std::pair<std::string, std::string>> all_pairs() {
  const std::vector<std::string> strategies{
      "allreduce", "local_sgd:3", "ps:async", "ps:bsp", "ps:ssp:2", "ps:dssp", "ps:async,servers=1,placement=dedicated"};
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& from : strategies)
    for (const std::string& to : strategies)
      if (from != to) pairs.emplace_back(from, to);
  return pairs;
}
INSTANTIATE_TEST_SUITE_P(All, Pairs, testing::ValuesIn(all_pairs()));

TEST_P(Pairs, EverySampleCountsOnceAndAllNodesEndWithTheSameModel) {
  const auto& [from, to] = GetParam();
  SwitchTeam team(
      {"train.epochs=3", "strategy.name=switch", "strategy.from='" + from + "'", "strategy.to='" + to + "'", "strategy.at=0.5"});
  const std::vector<Trained> trained = team.train(3);
  EXPECT_TRUE(team.used_each_sample_once());
  for (const Trained& worker : trained) {
    EXPECT_EQ(worker.parameters, trained[0].parameters);
    EXPECT_EQ(worker.checkpoint.cursor.samples_seen, 990);
    EXPECT_EQ(worker.checkpoint.cursor.phase, 1);
  }
  ASSERT_EQ(trained[0].memory.switches.size(), 1U);
  const SwitchRecord& record = trained[0].memory.switches[0];
  EXPECT_EQ(record.from, text_of(parse_strategy(from, "")));
  EXPECT_EQ(record.to, text_of(parse_strategy(to, "")));
  EXPECT_EQ(record.samples_seen, 522);
  EXPECT_TRUE(record.state_was_shared);
  EXPECT_LT(trained[0].memory.epochs.back().train.loss, trained[0].memory.epochs.front().train.loss);
}

TEST(Switch, LearningRateAndBatchesFollowTheStrategy) {
  SwitchTeam team({"train.epochs=3", "strategy.name=switch", "strategy.at=2"});
  const SwitchRecord record = team.train(3)[0].memory.switches.at(0);
  EXPECT_DOUBLE_EQ(record.learning_rate, 0.05);
  EXPECT_DOUBLE_EQ(record.rate_factor_before, 1);
  EXPECT_DOUBLE_EQ(record.rate_factor, 1.0 / 3);
  EXPECT_EQ(record.worker_batch_before, 22);
  EXPECT_EQ(record.worker_batch, 22);
  EXPECT_EQ(record.workers, 3);
  EXPECT_GT(record.seconds, 0);
  EXPECT_NEAR(record.seconds, record.drain_seconds + record.agree_seconds + record.state_seconds + record.begin_seconds, 1e-9);
}

bool are_zero(const std::vector<std::vector<float>>& slots) {
  return std::ranges::all_of(slots, [](const auto& slot) { return std::ranges::all_of(slot, [](float value) { return value == 0; }); });
}

TEST(Switch, SlotsAreCarriedUnlessTheyAreReset) {
  for (const std::string policy : {"carry", "reset"}) {
    SwitchTeam team({"train.epochs=3", "train.optimizer={ name = 'adam', learning_rate = 0.001 }", "strategy.name=switch", "strategy.at=2",
                     "strategy.to=ps:bsp", "strategy.slots=" + policy});
    std::mutex mutex;
    std::vector<Checkpoint> after;
    team.entered = [&](Trainer& trainer) {
      Checkpoint now = trainer.checkpoint();
      const std::lock_guard lock(mutex);
      after.push_back(std::move(now));
    };
    const std::vector<Trained> trained = team.train(2);
    ASSERT_EQ(after.size(), 2U);
    EXPECT_EQ(are_zero(after[0].slots), policy == "reset");
    EXPECT_EQ(after[0].cursor.slots_from, policy == "reset" ? after[0].cursor.step : 0);
    EXPECT_EQ(trained[0].memory.switches.at(0).slots_reset, policy == "reset");
  }
}

// Adam's correction for its first steps begins anew with the slots; otherwise they would be several times too large.
TEST(Switch, AnOptimizerThatCountsItsStepsBeginsToCountAgain) {
  const std::vector<std::string> job{"train.epochs=2", "train.optimizer={ name = 'adam', learning_rate = 0.001 }", "strategy.name=switch",
                                     "strategy.at=1", "strategy.slots=reset"};
  auto with = [&](const std::string& to) {
    std::vector<std::string> settings = job;
    settings.push_back("strategy.to='" + to + "'");
    SwitchTeam team(settings);
    return team.train(2)[0];
  };
  const Trained by_servers = with("ps:bsp");
  const Trained in_step = with("allreduce,overlap=false");
  EXPECT_LT(distance(by_servers.parameters, in_step.parameters), 1e-5);
}

TEST(Switch, AWorkerLostOnTheWayIsSurvived) {
  for (const int lost : {0, 1, 2}) {
    SwitchTeam team({"train.epochs=3", "strategy.name=switch", "strategy.at=0.5"});
    const std::vector<Trained> trained = team.train(3, lost);
    EXPECT_TRUE(team.used_each_sample_once()) << "lost " << lost;
    EXPECT_EQ(trained[lost == 0 ? 1 : 0].checkpoint.cursor.samples_seen, 990);
  }
}

TEST(Switch, OneAloneDoesNotMind) {
  const Cluster cluster({"strategy.name=switch"});
  const Cluster plain;
  EXPECT_EQ(cluster.alone().memory.steps.size(), plain.alone().memory.steps.size());
}

}  // namespace
}  // namespace trireme::train
