// SPDX-License-Identifier: Apache-2.0
// What a coordinator decides by itself in trainings of real processes: a slow node is left out or not waited for, a switch pays or not.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

// A network that computes more than it exchanges, so that the CPU is what counts.
constexpr const char* kJob = R"(
[model]
name = "resnet"
depth = 8
[data]
name = "synthetic_images"
samples = 1200
test_samples = 60
[train]
epochs = 1000
batch_size = 12
[train.optimizer]
name = "sgd"
learning_rate = 0.01
)";

// A process that gets a twentieth of its time.
class Throttle {
 public:
  explicit Throttle(pid_t pid)
      : thread_([pid](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            ::kill(pid, SIGSTOP);
            std::this_thread::sleep_for(milliseconds(190));
            ::kill(pid, SIGCONT);
            std::this_thread::sleep_for(milliseconds(10));
          }
        }) {}

 private:
  std::jthread thread_;
};

class Policies : public TrainingFolder {
 protected:
  Policies() { write_job(kJob); }
};

TEST_F(Policies, ASlowNodeIsLeftOutAndTakenBack) {
  TrainingProcess training = begin("runs", {"-n", "3", "--set", "strategy.straggler=drop"});
  ASSERT_TRUE(comes_to("runs", 5)) << training.text();
  ASSERT_EQ(training.children().size(), 3U);
  const pid_t slow = training.children()[1];  // they are started in order
  {
    const Throttle throttle(slow);
    ASSERT_TRUE(training.says("it is left out for 30 s", seconds(100))) << training.text();
    EXPECT_TRUE(training.says("generation 2: 2 nodes go on", seconds(10))) << training.text();
  }
  EXPECT_TRUE(training.says("generation 3: 3 nodes go on", seconds(45))) << training.text();
  EXPECT_EQ(::kill(slow, 0), 0) << "the same process comes back";
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_THAT(training.text(), Not(HasSubstr("is lost")));
  const auto stragglers = records("runs", "straggler");
  ASSERT_FALSE(stragglers.empty());
  EXPECT_EQ(stragglers[0].text("node"), "1");
  EXPECT_EQ(stragglers[0].text("action"), "drop");
}

TEST_F(Policies, NoWorkerWaitsForASlowNodeWhileItIsSlow) {
  TrainingProcess training = begin("runs", {"-n", "3", "--set", "strategy.straggler=async"});
  ASSERT_TRUE(comes_to("runs", 5)) << training.text();
  ASSERT_EQ(training.children().size(), 3U);
  {
    const Throttle throttle(training.children()[1]);
    ASSERT_TRUE(training.says("no node waits for it while that lasts", seconds(100))) << training.text();
    ASSERT_TRUE(training.says("from allreduce to ps:async", seconds(30))) << training.text();
  }
  EXPECT_TRUE(training.says("is not slow any more", seconds(100))) << training.text();
  EXPECT_TRUE(training.says("from ps:async,servers=2 to allreduce", seconds(30))) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_THAT(training.text(), Not(HasSubstr("is lost")));
  ASSERT_FALSE(records("runs", "straggler").empty());
  EXPECT_EQ(records("runs", "straggler")[0].text("action"), "async");
  ASSERT_FALSE(records("runs", "straggler_over").empty());
  EXPECT_EQ(records("runs", "straggler_over")[0].text("node"), records("runs", "straggler")[0].text("node"));
}

// Tiny steps, of which most is exchange; small batches; and a learning rate at which there is no progress: everything speaks for it.
TEST_F(Policies, AutoSaysAfterEachEpochWhatItDoesAndWhy) {
  write_job(R"(
[model]
name = "mlp_300_100"
[data]
name = "synthetic_digits"
samples = 1600
test_samples = 60
[train]
epochs = 6
batch_size = 8
[train.optimizer]
name = "sgd"
learning_rate = 1e-5
[strategy]
name = "switch"
from = "allreduce"
to = "ps:async"
at = "auto"
shares = "equal"
)");
  TrainingProcess training = begin("runs", {"-n", "2"});
  EXPECT_EQ(training.wait(), 0) << training.text();
  std::int64_t measured = 0;
  for (const auto& step : records("runs", "step")) measured += step.find("noise_scale") != nullptr ? 1 : 0;
  EXPECT_GE(measured, 25) << "every 16th of 200 steps, for two epochs";
  const auto verdicts = records("runs", "verdict");
  ASSERT_EQ(verdicts.size(), 6U) << training.text();
  EXPECT_THAT(verdicts[0].text("reason"), HasSubstr("no epoch before"));
  EXPECT_EQ(verdicts[1].text("decision"), "go") << verdicts[1].text("reason");
  EXPECT_GT(verdicts[1].real("wait_share"), 0.2);
  EXPECT_EQ(verdicts[5].text("reason"), "the training is over");
  std::size_t changes = 0;
  for (const auto& verdict : verdicts) changes += verdict.text("decision") != "stay" ? 1 : 0;
  const auto switches = records("runs", "switch");
  ASSERT_EQ(switches.size(), changes) << training.text();
  EXPECT_EQ(switches[0].text("to"), "ps:async");
  EXPECT_EQ(switches[0].text("why"), "auto");
}

}  // namespace
}  // namespace trireme::tests
