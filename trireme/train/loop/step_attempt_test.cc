// SPDX-License-Identifier: Apache-2.0
// A step leaves no trace in the statistics unless it came to its end and counts.
#include "trireme/train/loop/step_attempt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trireme/train/testing/job.h"

namespace trireme::train {
namespace {

constexpr std::string_view kJob = R"(
[model]
name = "resnet"
depth = 8
[data]
name = "synthetic_images"
samples = 64
)";

struct Attempts : testing::Test {
  void forward() { std::ranges::fill(replica.states(), 7.0F); }

  Job job = job_with(kJob, {});
  SteadyClock clock;
  Replica replica{job, {}};
  std::vector<float> before = replica.states();
  std::vector<float> after = std::vector<float>(before.size(), 7.0F);
};

TEST_F(Attempts, WithoutAnEndChangesNothing) {
  ASSERT_FALSE(before.empty());
  {
    const StepAttempt attempt(replica, clock, clock.now());
    forward();
  }
  EXPECT_EQ(replica.states(), before);
}

TEST_F(Attempts, ThatCountsKeepsItsStatistics) {
  {
    StepAttempt attempt(replica, clock, clock.now());
    forward();
    attempt.commit(false);
  }
  EXPECT_EQ(replica.states(), after);
}

TEST_F(Attempts, ThatIsSkippedRestoresWhatTheStrategySaysWasBefore) {
  StepAttempt attempt(replica, clock, clock.now());
  forward();
  attempt.states_before().assign(before.size(), 3.0F);
  attempt.commit(true);
  EXPECT_EQ(replica.states(), std::vector<float>(before.size(), 3.0F));
}

}  // namespace
}  // namespace trireme::train
