// SPDX-License-Identifier: Apache-2.0
// Parameter servers as processes: workers and servers are killed for real, and nothing is lost but time.
#include <gmock/gmock.h>

#include <csignal>
#include <map>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Servers : public TrainingFolder {
 protected:
  Servers() { write_job(small_job({.samples = 6000, .epochs = 10, .batch_size = 60, .checkpoint_seconds = 1, .optimizer = "sgd"})); }

  TrainingProcess train(const std::string& runs, const std::vector<std::string>& strategy, int nodes) const {
    std::vector<std::string> arguments{"-n", fmt::format("{}", nodes), "--set", "strategy.name=ps"};
    for (const std::string& setting : strategy) arguments.insert(arguments.end(), {"--set", "strategy." + setting});
    return begin(runs, arguments);
  }
  // Whichever nodes computed them.
  void expect_whole_epochs(const std::string& runs, std::int64_t samples) const {
    for (const auto& record : records(runs, "epoch")) EXPECT_EQ(record.integer("samples"), samples);
  }
};

TEST_F(Servers, OfTheirOwnAndBesideWorkers) {
  TrainingProcess own = train("own", {"servers=1"}, 3);
  ASSERT_EQ(own.wait(), 0) << own.text();
  EXPECT_THAT(own.text(), AllOf(HasSubstr("1 server and 2 workers"), HasSubstr("trained 10 epochs"), HasSubstr("accuracy")));
  expect_whole_epochs("own", 6000);
  EXPECT_EQ(records("own", "server").size(), 10U);
  TrainingProcess shared = train("shared", {"servers=0", "placement=shared", "mode=bsp"}, 2);
  ASSERT_EQ(shared.wait(), 0) << shared.text();
  EXPECT_THAT(shared.text(), HasSubstr("2 workers, 2 servers beside them"));
  EXPECT_EQ(records("shared", "step").size(), 1000U);
}

TEST_F(Servers, AKilledWorkerChangesNothingButSpeed) {
  TrainingProcess training = train("runs", {"servers=1"}, 4);
  ASSERT_TRUE(comes_to("runs", 100)) << training.text();
  const std::vector<pid_t> nodes = training.children();
  ASSERT_EQ(nodes.size(), 4U);
  ::kill(nodes[2], SIGKILL);
  EXPECT_TRUE(training.says("generation 2: 3 nodes go on")) << training.text();
  EXPECT_TRUE(training.says("generation 3: 4 nodes go on")) << training.text();
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), Not(HasSubstr("done again")));
  expect_whole_epochs("runs", 6000);
}

TEST_F(Servers, AKilledServerCostsOneCheckpointIntervalAtMost) {
  TrainingProcess training = train("runs", {"servers=2"}, 4);
  ASSERT_TRUE(comes_to("runs", 50)) << training.text();
  ASSERT_TRUE(wait_until([&] { return !records("runs", "checkpoint").empty(); }, seconds(60))) << training.text();
  ::kill(training.children().at(1), SIGKILL);
  EXPECT_TRUE(training.says("generation 2: 3 nodes go on")) << training.text();
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("killed by SIGKILL"), HasSubstr("trained 10 epochs")));
  const auto rollbacks = records("runs", "rollback");
  ASSERT_EQ(rollbacks.size(), 1U) << training.text();
  std::map<std::int64_t, int> kept;
  for (const auto& record : records("runs", "checkpoint")) ++kept[record.integer("step")];
  EXPECT_EQ(kept.count(rollbacks[0].integer("step")), 1U) << "all servers have the values of one checkpoint";
}

// Every node is a server and a worker: any node that dies takes parameters with it.
class SharedServers : public Servers {
 protected:
  TrainingProcess train_for_long(double checkpoint_seconds) const {
    write_job(small_job({.samples = 6000, .epochs = 1000, .batch_size = 60, .checkpoint_seconds = checkpoint_seconds, .optimizer = "sgd"}));
    return train("runs", {"servers=0", "placement=shared"}, 3);
  }
  std::int64_t kept() const {  // newest checkpoint
    std::int64_t step = -1;
    for (const auto& record : records("runs", "checkpoint")) step = std::max(step, record.integer("step"));
    return step;
  }
  // All three are together again, and have made enough steps that another death is not held against them.
  bool is_at_work_after(const TrainingProcess& training, std::size_t kills) const {
    const auto are_together = [&] { return training.children().size() == 3 && records("runs", "generation").size() > 2 * kills; };
    if (!wait_until(are_together, seconds(60))) return false;
    return comes_to("runs", steps("runs") + 15);
  }
};

TEST_F(SharedServers, AKilledNodeCostsOneCheckpointIntervalAtMost) {
  TrainingProcess training = train_for_long(1);
  ASSERT_TRUE(comes_to("runs", 0)) << training.text();
  std::int64_t before = 0;
  for (std::size_t kills = 0; kills < 3; ++kills) {
    ASSERT_TRUE(wait_until([&] { return kept() > before; }, seconds(60))) << training.text();
    ASSERT_TRUE(is_at_work_after(training, kills)) << training.text();
    before = kept();
    const std::size_t rollbacks = records("runs", "rollback").size();
    ::kill(training.children().at(kills), SIGKILL);
    ASSERT_TRUE(is_at_work_after(training, kills + 1)) << training.text();
    // None, if it died while all had all: at a meeting.
    const std::vector<observe::Record> all = records("runs", "rollback");
    for (std::size_t i = rollbacks; i < all.size(); ++i)
      EXPECT_GE(all[i].integer("step"), before) << "all went back to the newest checkpoint";
  }
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 128 + SIGTERM) << training.text();
  expect_whole_epochs("runs", 6000);
}

// No generation lives as long as an interval between checkpoints.
TEST_F(SharedServers, CheckpointsAreKeptThoughANodeDiesAgainAndAgain) {
  TrainingProcess training = train_for_long(3);
  ASSERT_TRUE(comes_to("runs", 0)) << training.text();
  for (std::size_t kills = 0; kills < 15 && kept() <= 0; ++kills) {
    ASSERT_TRUE(is_at_work_after(training, kills)) << training.text();
    ::kill(training.children().at(kills % 3), SIGKILL);
  }
  EXPECT_GT(kept(), 0) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 128 + SIGTERM) << training.text();
}

TEST_F(Servers, TheLauncherDiesAndAnotherGoesOnWithWhatServersHold) {
  TrainingProcess training = train("runs", {"servers=1", "mode=ssp"}, 3);
  ASSERT_TRUE(comes_to("runs", 100)) << training.text();
  training.signal(SIGKILL);
  training.wait();
  TrainingProcess rest({"--resume", latest("runs").string(), "-n", "3"});
  EXPECT_EQ(rest.wait(), 0) << rest.text();
  EXPECT_THAT(rest.text(), AllOf(HasSubstr("trained 10 epochs"), Not(HasSubstr("done again"))));
}

}  // namespace
}  // namespace trireme::tests
