// SPDX-License-Identifier: Apache-2.0
// Nodes on this machine: the same bits again and after an interruption, a first error in words, and nothing left behind.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Nodes : public TrainingFolder {
 protected:
  Nodes() { write_job(small_job()); }
  bool is_under_way(const std::string& runs) const { return comes_to(runs, 20); }
};

TEST_F(Nodes, TwoRunsAreBitIdenticalAndSoIsOneThatWasInterrupted) {
  ASSERT_EQ(begin("warm", {"-n", "3"}).wait(), 0);  // finds the algorithms that the others use
  TrainingProcess first = begin("first", {"-n", "3"});
  ASSERT_EQ(first.wait(), 0) << first.text();
  EXPECT_THAT(first.text(), AllOf(HasSubstr("3 workers of 1 thread on this machine"), HasSubstr("accuracy")));
  TrainingProcess second = begin("second", {"-n", "3"});
  ASSERT_EQ(second.wait(), 0) << second.text();
  EXPECT_TRUE(final_model("first") == final_model("second"));

  TrainingProcess broken = begin("broken", {"-n", "3"});
  ASSERT_TRUE(is_under_way("broken")) << broken.text();
  broken.signal(SIGTERM);
  ASSERT_EQ(broken.wait(), 143) << broken.text();
  EXPECT_THAT(broken.text(), HasSubstr("trireme train --resume"));
  TrainingProcess rest({"--resume", latest("broken").string(), "-n", "3"});
  ASSERT_EQ(rest.wait(), 0) << rest.text();
  EXPECT_TRUE(final_model("first") == final_model("broken"));
}

TEST_F(Nodes, NothingOutlivesAKilledCoordinatorIfSoWanted) {
  TrainingProcess training = begin("runs", {"-n", "2", "--keep-nodes", "0", "--set", "train.epochs=1000"});
  ASSERT_TRUE(is_under_way("runs")) << training.text();
  const std::vector<pid_t> nodes = training.children();
  ASSERT_EQ(nodes.size(), 2U);
  training.signal(SIGKILL);
  EXPECT_EQ(training.wait(), -SIGKILL);
  for (const pid_t node : nodes) EXPECT_TRUE(wait_until([&] { return ::kill(node, 0) != 0; }, seconds(10))) << node;
}

TEST_F(Nodes, SecretsAreNowhereToBeRead) {
  TrainingProcess training = begin("runs", {"-n", "2", "--set", "train.epochs=1000"});
  ASSERT_TRUE(is_under_way("runs")) << training.text();
  for (const pid_t node : training.children()) {
    for (const char* name : {"cmdline", "environ"}) {
      const std::string text = read_file(std::filesystem::path("/proc") / std::to_string(node) / name);
      EXPECT_THAT(text, AllOf(Not(HasSubstr("PRIVATE")), Not(HasSubstr("job_key")))) << name;
    }
  }
  training.signal(SIGINT);
  EXPECT_EQ(training.wait(), 130) << training.text();
  EXPECT_THAT(training.text(), Not(HasSubstr("PRIVATE")));
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_ / "runs")) {
    if (!file.is_regular_file()) continue;
    EXPECT_THAT(read_file(file.path()), Not(HasSubstr("PRIVATE KEY"))) << file.path();
  }
}

TEST_F(Nodes, TheEnvironmentLaunchesThem) {
  const std::string port = std::to_string(20000 + ::getpid() % 10000);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", port.c_str(), 1);
  ::setenv("WORLD_SIZE", "3", 1);
  std::vector<std::unique_ptr<TrainingProcess>> ranks;
  for (const char* rank : {"2", "1", "0"}) {  // the ranks that come first wait
    ::setenv("RANK", rank, 1);
    ranks.push_back(std::make_unique<TrainingProcess>(
        std::vector<std::string>{(folder_ / "job.toml").string(), "--runs", (folder_ / "runs").string(), "--threads", "1"}));
  }
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}) ::unsetenv(name);
  for (const auto& rank : ranks) EXPECT_EQ(rank->wait(), 0) << rank->text();
  EXPECT_THAT(ranks.back()->text(), AllOf(HasSubstr("3 workers"), HasSubstr("trained 6 epochs")));
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache/trireme")) EXPECT_NE(file.path().extension(), ".secret");
}

TEST_F(Nodes, ARankWithAnotherJobIsRefused) {
  const std::string port = std::to_string(30000 + ::getpid() % 10000);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", port.c_str(), 1);
  ::setenv("WORLD_SIZE", "2", 1);
  ::setenv("RANK", "0", 1);
  TrainingProcess first = begin("runs", {"--threads", "1"});
  ::setenv("RANK", "1", 1);
  TrainingProcess second = begin("runs", {"--threads", "1", "--set", "train.batch_size=60"});
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}) ::unsetenv(name);
  EXPECT_NE(first.wait(), 0);
  EXPECT_NE(second.wait(), 0);
  EXPECT_THAT(first.text(), HasSubstr("job"));
  EXPECT_THAT(first.text(), HasSubstr("refused"));
}

TEST_F(Nodes, ADryRunStartsNothing) {
  TrainingProcess training = begin("runs", {"-n", "2", "--dry-run"});
  EXPECT_EQ(training.wait(), 0);
  EXPECT_THAT(training.text(), AllOf(HasSubstr("trireme node --threads 1"), HasSubstr("[1 ")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
}

TEST_F(Nodes, AMistakeInTheStrategyIsReportedBeforeAnythingStarts) {
  TrainingProcess training = begin("runs", {"-n", "2", "--set", "strategy.overlapp=true"});
  EXPECT_EQ(training.wait(), 2);
  EXPECT_THAT(training.text(), HasSubstr("overlap"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
}

}  // namespace
}  // namespace trireme::tests
