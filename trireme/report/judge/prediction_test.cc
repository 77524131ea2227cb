// SPDX-License-Identifier: Apache-2.0
// Tests of the model of a step: it says what was measured for what was measured, and obeys the formulas elsewhere.
#include "trireme/report/judge/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::report {
namespace {

using testing::HasSubstr;

// 2 workers; of an exchange of 30 ms, 10 ms are hidden behind backward. 4 buckets: 8 rounds.
StepFacts step() {
  StepFacts facts;
  facts.strategy = {.strategy = "allreduce", .exchange = StrategyFacts::Exchange::all_reduce};
  facts.steps = 500;
  facts.workers = facts.machines = 2;
  facts.compute = 0.08;
  facts.exposed = facts.exposed_least = 0.02;
  facts.exchange = 0.03;
  facts.optimizer = 0.004;
  facts.step = 0.104;
  facts.parameters = 1e6;
  facts.buckets = 4;
  return facts;
}

const Prediction& of(const std::vector<Prediction>& list, const std::string& change) {
  for (const Prediction& prediction : list)
    if (prediction.change == change) return prediction;
  ADD_FAILURE() << "no prediction of " << change;
  return list.front();
}

TEST(StepModel, SaysWhatWasMeasuredForWhatWasMeasured) {
  EXPECT_NEAR(StepModel(step()).step_seconds(2, 1), 0.104, 1e-12);
  StepFacts facts = step();
  facts.exposed = 0.05;  // a mean worker waits 30 ms for the slowest
  facts.step = 0.134;
  facts.exchange = 0.06;
  EXPECT_NEAR(StepModel(facts).step_seconds(2, 1), 0.134, 1e-12);
}

TEST(StepModel, BandwidthShortensTheTransferButNotTheLatency) {
  const StepModel model(step());
  EXPECT_NEAR(model.latency(), 50e-6, 1e-12);
  const double latency = 8 * 50e-6;
  EXPECT_NEAR(model.exchange_seconds(2, 2), latency + (0.03 - latency) / 2, 1e-12);
  EXPECT_NEAR(model.step_seconds(2, 2), 0.084 + model.exchange_seconds(2, 2) - 0.01, 1e-12);
  // The last of four buckets is never hidden.
  EXPECT_NEAR(model.step_seconds(2, 1000), 0.084 + model.exchange_seconds(2, 1000) / 4, 1e-12);
}

TEST(StepModel, MoreNodesComputeLessAndSendMore) {
  const StepModel model(step());
  const double latency = 8 * 50e-6;
  EXPECT_NEAR(model.exchange_seconds(4, 1), 3 * latency + (0.03 - latency) * 1.5, 1e-12) << "2 (n - 1) / n is 1.5 instead of 1";
  EXPECT_NEAR(model.step_seconds(4, 1), 0.04 + 0.004 + model.exchange_seconds(4, 1) - 0.005, 1e-12);
  EXPECT_NEAR(model.step_seconds(1, 1), 0.164, 1e-12) << "alone nothing is exchanged";
}

TEST(StepModel, ParameterServersShareTheirLinks) {
  StepFacts facts = step();
  facts.strategy = {.strategy = "ps:async", .exchange = StrategyFacts::Exchange::servers, .is_joint = false};
  facts.servers = 1;
  facts.buckets = 1;
  const StepModel model(facts);
  EXPECT_NEAR(model.exchange_seconds(4, 1), 2 * 50e-6 + (0.03 - 2 * 50e-6) * 2, 1e-12);
  facts.servers = 4;
  EXPECT_NEAR(StepModel(facts).exchange_seconds(4, 1), 0.03, 1e-12);
}

TEST(Predictions, StateTheDifferenceAndWhatIsAssumed) {
  const auto list = predictions_of(step());
  ASSERT_EQ(list.size(), 5U);
  const Prediction& twice = of(list, "twice the bandwidth");
  EXPECT_NEAR(twice.difference, twice.step_seconds / 0.104 - 1, 1e-12);
  EXPECT_LT(twice.difference, -0.1);
  EXPECT_THAT(twice.sentence, HasSubstr("instead of 104 ms"));
  EXPECT_THAT(twice.sentence, HasSubstr("50 µs latency a round"));
  EXPECT_THAT(of(list, "one more node").sentence, HasSubstr("new nodes like the mean of these"));
  EXPECT_NEAR(of(list, "one node alone").difference, 0.164 / 0.104 - 1, 1e-9);
}

TEST(Predictions, AreRefusedWhereTheModelCannotKnow) {
  StepFacts facts = step();
  facts.machines = 1;
  const auto shared = predictions_of(facts);
  EXPECT_TRUE(std::isnan(of(shared, "twice the bandwidth").step_seconds));
  EXPECT_THAT(of(shared, "one more node").sentence, HasSubstr("no cores of its own"));
  EXPECT_NEAR(of(shared, "one node alone").step_seconds, 0.084, 1e-12);

  facts = step();
  facts.is_mixed = true;
  EXPECT_THAT(predictions_of(facts).front().sentence, HasSubstr("several strategies are mixed"));
  facts.steps = 2;
  EXPECT_TRUE(predictions_of(facts).empty());
}

TEST(Predictions, OneProcessShowsHowFastANetworkMustBe) {
  StepFacts facts = step();
  facts.workers = facts.machines = 1;
  facts.strategy = {.strategy = "local", .exchange = StrategyFacts::Exchange::none};
  const auto list = predictions_of(facts);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_THAT(list.front().sentence, HasSubstr("save at most 40 ms"));
  EXPECT_THAT(list.front().sentence, HasSubstr("must send 4 MB"));
  EXPECT_THAT(list.front().sentence, HasSubstr("faster than 100 MB/s"));
}

}  // namespace
}  // namespace trireme::report
