// SPDX-License-Identifier: Apache-2.0
// A node that lives but hangs in a read, as on a mount whose server is gone: named, left out, and taken back when it moves.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Stuck : public TrainingFolder {
 protected:
  Stuck() { write_job(small_job({.samples = 6000, .epochs = 2000, .batch_size = 60})); }

  ~Stuck() override { ::unsetenv("TRIREME_FAILPOINTS"); }

  // Orders node 1 to hang for so long in its 4000th sample, once; limits are short.
  std::vector<std::string> hanging(int for_seconds, const std::vector<std::string>& more = {}) const {
    std::filesystem::create_directories(folder_ / "marks");
    const std::string order = fmt::format("once={} data.read@1:4000:sleep={}", (folder_ / "marks").string(), for_seconds);
    ::setenv("TRIREME_FAILPOINTS", order.c_str(), 1);
    std::vector<std::string> arguments{"-n", "3", "--set", "strategy.stuck_seconds=2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(Stuck, ANodeThatHangsInAReadIsNamedLeftOutAndTakenBackWhenItMoves) {
  TrainingProcess training = begin("runs", hanging(10));
  EXPECT_TRUE(training.says("generation 2: 2 nodes go on")) << training.text();
  EXPECT_TRUE(training.says("moves again")) << training.text();
  EXPECT_TRUE(training.says("generation 3: 3 nodes go on")) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_THAT(training.text(),
              AllOf(ContainsRegex("rank 1 on .* is stuck in step [0-9]+ \\(wait\\): it has been reading data for [0-9]+ s"),
                    Not(HasSubstr("misses")), Not(HasSubstr("starting node"))));
  const auto lost = records("runs", "lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].text("node"), "1");
}

TEST_F(Stuck, WithParameterServersTheInnocentAreNotStruckEither) {
  TrainingProcess training = begin("runs", hanging(10, {"--strategy", "ps:bsp"}));
  EXPECT_TRUE(training.says("generation 2: 2 nodes go on")) << training.text();
  EXPECT_TRUE(training.says("generation 3: 3 nodes go on")) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_THAT(training.text(), AllOf(ContainsRegex("rank 1 on .* is stuck in step [0-9]+ \\(wait\\)"), Not(HasSubstr("misses"))));
}

// What it reads from never answers again: nothing of it holds up the end.
TEST_F(Stuck, ANodeThatHangsForEverDoesNotHoldUpTheEnd) {
  TrainingProcess training = begin("runs", hanging(3600));
  EXPECT_TRUE(training.says("generation 2: 2 nodes go on")) << training.text();
  const std::vector<pid_t> nodes = training.children();
  const auto asked = std::chrono::steady_clock::now();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, seconds(10));
  EXPECT_THAT(training.text(), Not(HasSubstr("SIGKILL"))) << "it leaves by itself";
  for (const pid_t node : nodes) EXPECT_TRUE(wait_until([&] { return ::kill(node, 0) != 0; }, seconds(10))) << node;
}

}  // namespace
}  // namespace trireme::tests
