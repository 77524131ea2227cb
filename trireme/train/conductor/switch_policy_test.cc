// SPDX-License-Identifier: Apache-2.0
// Verdicts over whole trainings, reported epoch by epoch.
#include "trireme/train/conductor/switch_policy.h"

#include <gmock/gmock.h>

#include <limits>

namespace trireme::train {
namespace {

using testing::HasSubstr;
using Decision = SwitchPolicy::Decision;
using Part = SwitchPolicy::Part;
using Verdict = SwitchPolicy::Verdict;

constexpr int kSteps = 10;  // of 100 samples, an epoch

// An epoch as it could be reported.
struct Reported {
  double wait = 0.3;  // of each step's time
  double noise = 500;
  double loss = 1;
  double speed = 1000;
  bool validates = true;
  std::optional<int> switches_after = {};  // so many steps, to the second part
  double speed_before = 1000;              // until then
};

class SwitchPolicyTest : public testing::Test {
 protected:
  Verdict epoch(const Reported& reported) {
    double seconds = 0;
    for (int step = 1; step <= kSteps; ++step) {
      const bool before = reported.switches_after && step <= *reported.switches_after;
      const double speed = before ? reported.speed_before : reported.speed;
      seconds += 100 / speed;
      policy_.on_step(StepRecord{.step = number_ * kSteps + step,
                                 .epoch = number_,
                                 .epoch_mean = {.samples = 100LL * step},
                                 .samples_per_second = 100 * step / seconds,
                                 .seconds = 1,
                                 .exposed_seconds = reported.wait,
                                 .noise_scale = step == 6 ? reported.noise : 0});
      if (reported.switches_after == step) policy_.on_begin(Part::second);
    }
    EpochRecord record{.epoch = number_++,
                       .train = {.samples = 100LL * kSteps, .loss = reported.validates ? 99 : reported.loss},
                       .test = {.samples = 50, .loss = 7},
                       .seconds = seconds};
    if (reported.validates) record.validation = {.samples = 50, .loss = reported.loss};
    return policy_.judge(record);
  }
  // Two epochs after which nothing speaks against going.
  void go() {
    epoch({.loss = 1});
    EXPECT_EQ(epoch({.loss = 0.99}).decision, Decision::go);
    policy_.on_begin(Part::second);
  }

  SwitchPolicy policy_{128, 20};
  std::int64_t number_ = 0;
};

TEST_F(SwitchPolicyTest, GoesWhenThereIsTimeToGainNoiseAndLittleProgress) {
  EXPECT_EQ(epoch({.loss = 1}).decision, Decision::stay);
  const Verdict verdict = epoch({.wait = 0.3, .noise = 500, .loss = 0.99});
  EXPECT_EQ(verdict.decision, Decision::go);
  EXPECT_THAT(verdict.reason, HasSubstr("workers wait 30 %"));
  EXPECT_THAT(verdict.reason, HasSubstr("noise scale is 500"));
  EXPECT_THAT(verdict.reason, HasSubstr("fell by 1.0 %"));
  EXPECT_DOUBLE_EQ(*verdict.wait_share, 0.3);
  EXPECT_DOUBLE_EQ(*verdict.noise_scale, 500);
  EXPECT_NEAR(*verdict.progress, 0.01, 1e-9);
  EXPECT_NEAR(*verdict.samples_per_second_before, 1000, 1e-6);
  EXPECT_FALSE(verdict.samples_per_second);
}

TEST_F(SwitchPolicyTest, StaysForEachSingleReason) {
  epoch({.loss = 1});
  Verdict verdict = epoch({.wait = 0.19, .loss = 1});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_EQ(verdict.reason, "workers wait 19 % of the time (limit 20 %)");
  verdict = epoch({.noise = 100, .loss = 1});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_EQ(verdict.reason, "the noise scale is 100 (batch size 128)");
  verdict = epoch({.loss = 0.9});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_EQ(verdict.reason, "the loss fell by 10.0 % (limit 5 %)");
  EXPECT_EQ(epoch({.loss = 0.9}).decision, Decision::go);
}

TEST_F(SwitchPolicyTest, WhatIsMissingIsNamedAndMeansStay) {
  const Verdict first = epoch({.noise = 0});
  EXPECT_EQ(first.decision, Decision::stay);
  EXPECT_EQ(first.reason, "the noise scale is not measured yet; there is no epoch before to compare the loss with");
  EXPECT_FALSE(first.noise_scale);
  EXPECT_FALSE(first.progress);
  EXPECT_EQ(epoch({.noise = 0}).reason, "the noise scale is not measured yet");
}

// A coordinator that took over between two epochs has received none of the steps.
TEST_F(SwitchPolicyTest, StaysWithoutSteps) {
  const Verdict verdict = policy_.judge({.epoch = 3, .train = {.samples = 1000, .loss = 1}});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_THAT(verdict.reason, HasSubstr("no step was measured"));
}

TEST_F(SwitchPolicyTest, TheWaitOfASlowWorkerItselfSaysNothing) {
  epoch({.loss = 1});
  policy_.on_straggler(StragglerRecord{.rank = 0, .slowness = 3});
  const Verdict verdict = epoch({.loss = 1});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_THAT(verdict.reason, HasSubstr("is the slow one"));
  EXPECT_DOUBLE_EQ(*verdict.slowness, 3);
  policy_.on_straggler(StragglerRecord{.rank = -1});
  EXPECT_EQ(epoch({.loss = 1}).decision, Decision::go);
}

TEST_F(SwitchPolicyTest, AGradientLostInNoiseIsNoise) {
  epoch({.loss = 1});
  EXPECT_EQ(epoch({.noise = std::numeric_limits<double>::infinity(), .loss = 1}).decision, Decision::go);
}

TEST_F(SwitchPolicyTest, TheTrainingLossCountsOnlyWithoutValidation) {
  epoch({.loss = 1, .validates = false});
  const Verdict verdict = epoch({.loss = 0.8, .validates = false});
  EXPECT_NEAR(*verdict.progress, 0.2, 1e-9);
  EXPECT_EQ(verdict.decision, Decision::stay);
}

TEST_F(SwitchPolicyTest, AnEpochMeasuresItsOwnWait) {
  epoch({.wait = 0.9, .loss = 1});
  EXPECT_DOUBLE_EQ(*epoch({.wait = 0.1, .loss = 1}).wait_share, 0.1);
}

TEST_F(SwitchPolicyTest, StaysThereWhileItPays) {
  go();
  for (int i = 0; i < 5; ++i) {
    const Verdict verdict = epoch({.noise = 0, .loss = 0.98, .speed = 1500});
    EXPECT_EQ(verdict.decision, Decision::stay) << i;
    EXPECT_EQ(verdict.reason, "it pays: 1500 samples/s, before the switch 1000");
    EXPECT_EQ(verdict.part, Part::second);
  }
}

TEST_F(SwitchPolicyTest, ComesBackIfItIsNotFasterAndNeverGoesAgain) {
  go();
  const Verdict verdict = epoch({.noise = 0, .loss = 0.98, .speed = 990});
  EXPECT_EQ(verdict.decision, Decision::go_back);
  EXPECT_EQ(verdict.reason, "it did not pay: 990 samples/s, before the switch 1000");
  policy_.on_begin(Part::first);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(epoch({.loss = 0.98}).decision, Decision::stay) << i;
}

// The switch takes effect some steps after the verdict; those before it are not the second strategy's.
TEST_F(SwitchPolicyTest, OnlyStepsSinceTheSwitchCountForItsSpeed) {
  epoch({.loss = 1});
  EXPECT_EQ(epoch({.loss = 1}).decision, Decision::go);
  const Verdict verdict = epoch({.loss = 1, .speed = 2000, .switches_after = 2, .speed_before = 10});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_NEAR(*verdict.samples_per_second, 2000, 1e-6);
}

TEST_F(SwitchPolicyTest, ALittleOfAnEpochIsNoVerdict) {
  epoch({.loss = 1});
  EXPECT_EQ(epoch({.loss = 1}).decision, Decision::go);
  const Verdict verdict = epoch({.loss = 1, .speed = 10, .switches_after = 8});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_EQ(verdict.reason, "no epoch since the switch is long enough to measure");
  EXPECT_EQ(epoch({.loss = 1, .speed = 10}).decision, Decision::go_back);
}

TEST_F(SwitchPolicyTest, OneSlowEpochAmongFastOnesIsForgiven) {
  go();
  EXPECT_EQ(epoch({.loss = 0.98, .speed = 1500}).decision, Decision::stay);
  EXPECT_EQ(epoch({.loss = 0.98, .speed = 500}).decision, Decision::stay);
}

TEST_F(SwitchPolicyTest, ComesBackIfTheLossRisesTwice) {
  go();
  EXPECT_EQ(epoch({.loss = 1.00, .speed = 1500}).decision, Decision::stay);
  EXPECT_EQ(epoch({.loss = 0.99, .speed = 1500}).decision, Decision::stay) << "it fell again";
  EXPECT_EQ(epoch({.loss = 1.00, .speed = 1500}).decision, Decision::stay);
  const Verdict verdict = epoch({.loss = 1.01, .speed = 1500});
  EXPECT_EQ(verdict.decision, Decision::go_back);
  EXPECT_EQ(verdict.reason, "the loss rose 2 epochs in a row");
}

TEST_F(SwitchPolicyTest, DoesNotGoAfterTheLastEpoch) {
  policy_ = SwitchPolicy(128, 2);
  epoch({.loss = 1});
  const Verdict verdict = epoch({.loss = 1});
  EXPECT_EQ(verdict.decision, Decision::stay);
  EXPECT_EQ(verdict.reason, "the training is over");
}

// Any sequence: it goes at most once, and comes back at most once.
TEST_F(SwitchPolicyTest, NeverFlaps) {
  policy_ = SwitchPolicy(128, 1000);
  int goes = 0;
  int returns = 0;
  for (int i = 0; i < 300; ++i) {
    const Verdict verdict = epoch({.wait = 0.1 + 0.05 * (i % 7), .loss = 1 + 0.02 * (i % 3), .speed = 800.0 + 37 * (i % 11)});
    goes += verdict.decision == Decision::go ? 1 : 0;
    returns += verdict.decision == Decision::go_back ? 1 : 0;
    if (verdict.decision != Decision::stay) policy_.on_begin(verdict.decision == Decision::go ? Part::second : Part::first);
  }
  EXPECT_EQ(goes, 1);
  EXPECT_EQ(returns, 1);
}

TEST_F(SwitchPolicyTest, FieldsHaveEveryNumberAndNoneForWhatIsMissing) {
  const observe::Fields fields = fields_of(epoch({.noise = 0}));
  const auto field = [&](std::string_view name) {
    for (const auto& [key, value] : fields)
      if (key == name) return value;
    return observe::Value(std::string("there is no such field"));
  };
  EXPECT_EQ(field("decision"), observe::Value(std::string("stay")));
  EXPECT_EQ(field("epoch"), observe::Value(std::int64_t{1}));
  EXPECT_EQ(field("switched"), observe::Value(false));
  EXPECT_DOUBLE_EQ(std::get<double>(field("wait_share")), 0.3);
  EXPECT_TRUE(std::isnan(std::get<double>(field("noise_scale"))));
  EXPECT_TRUE(std::isnan(std::get<double>(field("progress"))));
}

}  // namespace
}  // namespace trireme::train
