// SPDX-License-Identifier: Apache-2.0
// Switches of real trainings: planned, by hand, with nodes killed meanwhile, and continued after an interruption.
#include <gmock/gmock.h>

#include <csignal>
#include <set>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Switches : public TrainingFolder {
 protected:
  Switches() { write_job(small_job({.samples = 6000, .epochs = 10, .batch_size = 60, .checkpoint_seconds = 1, .optimizer = "sgd"})); }

  static ProcessOutput trireme(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TRIREME_BINARY);
    return run_process(arguments, std::chrono::minutes(2));
  }
  Json status(const std::string& runs) const { return parse_json(trireme({"status", latest(runs).string(), "--json"}).out); }
  void expect_whole_epochs(const std::string& runs, std::size_t count = 10) const {
    ASSERT_EQ(records(runs, "epoch").size(), count);
    for (const auto& record : records(runs, "epoch")) EXPECT_EQ(record.integer("samples"), 6000);
  }
};

TEST_F(Switches, WithoutARestartOfAnyProcess) {
  TrainingProcess training = begin("runs", {"-n", "3", "--set", "strategy.name=switch", "--set",
                                            "strategy.schedule=['allreduce', 'ps:async at 0.3', 'local_sgd:4 at 6', 'allreduce at 8']"});
  ASSERT_TRUE(comes_to("runs", 20)) << training.text();
  const std::vector<pid_t> before = training.children();
  ASSERT_TRUE(training.says("from allreduce to ps:async")) << training.text();
  EXPECT_EQ(training.children(), before);
  ASSERT_EQ(training.wait(), 0) << training.text();
  expect_whole_epochs("runs");
  const auto switches = records("runs", "switch");
  ASSERT_EQ(switches.size(), 3U);
  EXPECT_EQ(switches[0].integer("samples_seen"), 18000);
  EXPECT_EQ(switches[1].integer("samples_seen"), 36000);
  EXPECT_EQ(switches[2].integer("samples_seen"), 48000);
  for (const auto& record : switches) EXPECT_EQ(record.text("weights"), "held by every node");
}

TEST_F(Switches, ByHandAndTheRunRemembers) {
  TrainingProcess training = begin("runs", {"-n", "3", "--set", "train.epochs=30"});
  ASSERT_TRUE(comes_to("runs", 20)) << training.text();
  const std::string run = latest("runs").string();
  const auto to_servers = trireme({"switch", run, "--to", "ps:async"});
  EXPECT_EQ(to_servers.status->code, 0) << to_servers.err;
  EXPECT_THAT(to_servers.out, HasSubstr("from allreduce to ps:async"));
  EXPECT_THAT(trireme({"switch", run, "--to", "ps"}).out, HasSubstr("already"));
  const auto mistake = trireme({"switch", run, "--to", "ps:asink"});
  EXPECT_EQ(mistake.status->code, 2);
  EXPECT_THAT(mistake.err, HasSubstr("must be one of async, bsp, ssp, dssp"));
  const Json now = status("runs");
  EXPECT_EQ(now.at("strategy"), "ps:async");
  EXPECT_EQ(now.at("duties"), "3 workers, 3 servers beside them");
  EXPECT_TRUE(now.at("running").get<bool>());
  EXPECT_EQ(now.at("hosts").size(), 3U);
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 128 + SIGTERM) << training.text();
  EXPECT_EQ(status("runs").at("ending"), "interrupted");
  const auto late = trireme({"switch", run, "--to", "allreduce"});
  EXPECT_EQ(late.status->code, 3) << late.err;
  EXPECT_THAT(late.err, HasSubstr("is not going"));
  const auto rest = trireme({"train", "--resume", run, "-n", "3"});
  ASSERT_EQ(rest.status->code, 0) << rest.err;
  EXPECT_EQ(status("runs").at("strategy"), "ps:async");
  expect_whole_epochs("runs", 30);
}

TEST_F(Switches, StatisticsOverAllWorkersAllowNoStrategyOutOfStep) {
  TrainingProcess training = begin("runs", {"-n", "2", "--set", "strategy.sync_batch_norm=true", "--until", "0.1"});
  ASSERT_EQ(training.wait(), 0) << training.text();
  const auto refused = trireme({"switch", latest("runs").string(), "--to", "ps:bsp"});
  EXPECT_EQ(refused.status->code, 2);
  EXPECT_THAT(refused.err, HasSubstr("needs workers in step"));
}

TEST_F(Switches, AnEndBeforeTheEndIsContinuedExactly) {
  TrainingProcess whole = begin("whole", {"-n", "2"});
  ASSERT_EQ(whole.wait(), 0) << whole.text();
  TrainingProcess part = begin("parts", {"-n", "2", "--until", "0.35"});
  ASSERT_EQ(part.wait(), 0) << part.text();
  EXPECT_EQ(records("parts", "step").size(), 350U);
  EXPECT_EQ(status("parts").at("ending"), "until");
  const auto rest = trireme({"train", "--resume", latest("parts").string(), "-n", "2"});
  ASSERT_EQ(rest.status->code, 0) << rest.err;
  EXPECT_TRUE(final_model("whole") == final_model("parts"));
}

// Killed right when all have drained, by an order in the environment.
TEST_F(Switches, AKilledWorkerDoesNotStopIt) {
  ::setenv("TRIREME_FAILPOINTS", fmt::format("once={} switch.after_drain@1:1:kill", (folder_ / "marks").string()).c_str(), 1);
  std::filesystem::create_directories(folder_ / "marks");
  TrainingProcess training = begin("runs", {"-n", "3", "--set", "strategy.name=switch"});
  ::unsetenv("TRIREME_FAILPOINTS");
  ASSERT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("killed by SIGKILL"), HasSubstr("from allreduce to ps:async")));
  expect_whole_epochs("runs");
}

}  // namespace
}  // namespace trireme::tests
