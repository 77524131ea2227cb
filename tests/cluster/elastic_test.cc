// SPDX-License-Identifier: Apache-2.0
// Nodes of this machine that die, stand still, leave and come back, and a coordinator that dies: training goes on.
#include <gmock/gmock.h>

#include <csignal>
#include <set>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Elastic : public TrainingFolder {
 protected:
  Elastic() {
    write_job(small_job({.samples = 6000, .epochs = 10, .batch_size = 60, .checkpoint_seconds = 0.5}));
    pace("0.005");
  }

  // Seconds from step to step at least, so that a fault hits one and a quick machine has not ended the training before a node is back.
  static void pace(const std::string& interval) { ::setenv("TRIREME_FAILPOINTS", ("step.begin:1:pace=" + interval).c_str(), 1); }

  // As the nodes' own journals have it, which are written at once.
  std::int64_t steps_done() const {
    std::int64_t last = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "events")) {
      if (!entry.path().filename().string().starts_with("node-0")) continue;
      for (const auto& record : observe::read_journal(entry.path()))
        if (record.type == "stepped") last = record.integer("step");
    }
    return last;
  }

  // Each step once, whichever node did it.
  void expect_every_step_once(const std::string& runs, std::int64_t count) const {
    std::multiset<std::int64_t> seen;
    for (const auto& record : observe::read_journal(latest(runs) / "journal.jsonl"))
      if (record.type == "step") seen.insert(record.integer("step"));
    EXPECT_EQ(std::ssize(seen), count);
    for (std::int64_t step = 1; step <= count; ++step) EXPECT_EQ(seen.count(step), 1U) << step;
  }
};

TEST_F(Elastic, TheOthersGoOnAndTheDeadOneComesBack) {
  pace("0.02");
  TrainingProcess training = begin("runs", {"-n", "3"});
  ASSERT_TRUE(comes_to("runs", 50)) << training.text();
  const std::vector<pid_t> nodes = training.children();
  ASSERT_EQ(nodes.size(), 3U);
  ::kill(nodes[1], SIGKILL);
  EXPECT_TRUE(training.says("generation 2: 2 nodes go on")) << training.text();
  EXPECT_TRUE(training.says("generation 3: 3 nodes go on")) << training.text();
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("trireme: rank "), HasSubstr(" step "), HasSubstr("killed by SIGKILL"),
                                     HasSubstr("starting node"), HasSubstr("trained 10 epochs")));
  expect_every_step_once("runs", 1000);
}

TEST_F(Elastic, AFixedNumberWaitsForTheReplacementAndTheResultIsTheSame) {
  TrainingProcess undisturbed = begin("undisturbed", {"-n", "2"});
  ASSERT_EQ(undisturbed.wait(), 0) << undisturbed.text();
  TrainingProcess training = begin("runs", {"-n", "2", "--min-nodes", "2"});
  ASSERT_TRUE(comes_to("runs", 50)) << training.text();
  ::kill(training.children().at(0), SIGKILL);
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), HasSubstr("generation 2: 2 nodes go on"));
  EXPECT_TRUE(final_model("undisturbed") == final_model("runs"));
}

TEST_F(Elastic, BelowTheMinimumItKeepsWhatItHasAndCanBeResumed) {
  TrainingProcess training = begin("runs", {"-n", "3", "--min-nodes", "3", "--restarts", "0"});
  ASSERT_TRUE(comes_to("runs", 50)) << training.text();
  ::kill(training.children().at(2), SIGKILL);
  EXPECT_EQ(training.wait(), 4) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("too few nodes"), HasSubstr("--resume"), HasSubstr("killed by SIGKILL")));
  TrainingProcess rest({"--resume", latest("runs").string(), "-n", "3"});
  EXPECT_EQ(rest.wait(), 0) << rest.text();
  expect_every_step_once("runs", 1000);
}

TEST_F(Elastic, AllOfThemDieAndAreReplaced) {
  TrainingProcess training = begin("runs", {"-n", "2"});
  ASSERT_TRUE(comes_to("runs", 200)) << training.text();
  for (const pid_t node : training.children()) ::kill(node, SIGKILL);
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), HasSubstr("trained 10 epochs"));
}

TEST_F(Elastic, ANodeThatStoodStillIsFencedAndComesAgain) {
  TrainingProcess training = begin("runs", {"-n", "2", "--set", "train.epochs=1000"});
  ASSERT_TRUE(comes_to("runs", 50)) << training.text();
  const pid_t node = training.children().at(1);
  ::kill(node, SIGSTOP);
  EXPECT_TRUE(training.says("generation 2: 1 node goes on")) << training.text();
  EXPECT_THAT(training.text(), HasSubstr("no heartbeat for 5 s"));
  ::kill(node, SIGCONT);
  EXPECT_TRUE(training.says("generation 3: 2 nodes go on")) << training.text();
  EXPECT_EQ(::kill(node, 0), 0) << "the same process rejoins";
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
}

TEST_F(Elastic, AShortStopChangesNothing) {
  TrainingProcess training = begin("runs", {"-n", "2"});
  ASSERT_TRUE(comes_to("runs", 50)) << training.text();
  const pid_t node = training.children().at(1);
  ::kill(node, SIGSTOP);
  std::this_thread::sleep_for(seconds(2));
  ::kill(node, SIGCONT);
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), Not(HasSubstr("generation 2")));
}

TEST_F(Elastic, ANodeThatIsAskedToLeaveDoesSoAtABoundary) {
  TrainingProcess training = begin("runs", {"-n", "3", "--set", "train.epochs=1000"});
  ASSERT_TRUE(comes_to("runs", 50)) << training.text();
  const pid_t node = training.children().at(0);
  ::kill(node, SIGTERM);
  EXPECT_TRUE(training.says("generation 2: 2 nodes go on")) << training.text();
  EXPECT_TRUE(wait_until([&] { return ::kill(node, 0) != 0; }, seconds(10)));
  EXPECT_THAT(training.text(), AllOf(HasSubstr("was asked to leave"), Not(HasSubstr("is lost"))));
  training.signal(SIGUSR1);
  EXPECT_EQ(training.wait(), 128 + SIGUSR1) << training.text();
}

TEST_F(Elastic, AnotherCoordinatorTakesOverWithTheNodesThatAreStillThere) {
  TrainingProcess undisturbed = begin("undisturbed", {"-n", "2"});
  ASSERT_EQ(undisturbed.wait(), 0) << undisturbed.text();
  std::vector<pid_t> nodes;
  {
    TrainingProcess training = begin("runs", {"-n", "2"});
    ASSERT_TRUE(comes_to("runs", 200)) << training.text();
    nodes = training.children();
    training.signal(SIGKILL);
    EXPECT_EQ(training.wait(), -SIGKILL);
  }
  for (const pid_t node : nodes) EXPECT_EQ(::kill(node, 0), 0) << "it waits";
  TrainingProcess next({"--resume", latest("runs").string()});
  EXPECT_EQ(next.wait(), 0) << next.text();
  EXPECT_THAT(next.text(), AllOf(HasSubstr("taking over"), HasSubstr("generation 2: 2 nodes go on")));
  expect_every_step_once("runs", 1000);
  EXPECT_TRUE(final_model("undisturbed") == final_model("runs"));
  for (const pid_t node : nodes) EXPECT_TRUE(wait_until([&] { return ::kill(node, 0) != 0; }, seconds(10))) << node;
  EXPECT_FALSE(std::filesystem::exists(latest("runs") / "coordinator.json"));
}

// Step records wait up to a second in the coordinator's memory: those that it had received and not written die with it.
TEST_F(Elastic, NoRecordOfAStepIsLostWithTheCoordinatorHoweverQuickTheStepsAre) {
  write_job(small_job({.samples = 20000, .epochs = 100, .batch_size = 4, .checkpoint_seconds = 600}));
  {
    TrainingProcess training = begin("runs", {"-n", "2", "--events", (folder_ / "events").string()});
    ASSERT_TRUE(comes_to("runs", 1)) << training.text();
    ASSERT_TRUE(wait_until([&] { return steps_done() > steps("runs") + 40; }, seconds(60))) << "steps are slower than 40 a second";
    training.signal(SIGKILL);
    EXPECT_EQ(training.wait(), -SIGKILL);
  }
  TrainingProcess next({"--resume", latest("runs").string()});
  ASSERT_TRUE(next.says("generation 2: 2 nodes go on")) << next.text();
  const std::int64_t before = steps("runs");
  EXPECT_TRUE(comes_to("runs", before)) << next.text();
  next.signal(SIGTERM);
  EXPECT_EQ(next.wait(), 143) << next.text();
  expect_every_step_once("runs", records("runs", "step").back().integer("step"));
}

}  // namespace
}  // namespace trireme::tests
