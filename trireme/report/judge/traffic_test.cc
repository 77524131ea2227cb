// SPDX-License-Identifier: Apache-2.0
// Tests of the analytic traffic of strategies against bytes that were counted.
#include "trireme/report/judge/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::report {
namespace {

using testing::HasSubstr;

using Exchange = StrategyFacts::Exchange;
const StrategyFacts kAllreduce{.strategy = "allreduce", .exchange = Exchange::all_reduce};
const StrategyFacts kAsync{.strategy = "ps:async", .exchange = Exchange::servers, .is_joint = false};

RunDocument run_of(const StrategyFacts& strategy, double workers, double steps, double sent_by_each, int nodes) {
  RunDocument document;
  document.run.parameters = 1000;
  document.strategies = {strategy};
  document.run.strategy = strategy.strategy;
  document.stretches = {{.strategy = strategy.strategy, .workers = workers, .steps = steps}};
  for (int i = 0; i < nodes; ++i) document.nodes.push_back({.node = std::to_string(i), .duty = "worker", .bytes_sent = sent_by_each});
  return document;
}

TEST(Traffic, ARingSendsTwiceTheModelLessOneShare) {
  const auto traffic = traffic_of(run_of(kAllreduce, 4, 10, 60'000, 4));
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->model_bytes_per_step, 2 * 3 * 4000);
  EXPECT_EQ(traffic->measured_bytes_per_step, 24'000);
  EXPECT_EQ(traffic->ratio, 1);
  StrategyFacts half = kAllreduce;
  half.bytes_per_value = 2;
  EXPECT_EQ(traffic_of(run_of(half, 4, 10, 60'000, 4))->ratio, 2);
}

TEST(Traffic, EveryWorkerPushesAndPulls) {
  RunDocument document = run_of(kAsync, 3, 100, 200'000, 4);
  document.nodes[0].duty = "server";
  document.servers = {{.server = 0}};
  document.server_workers = 3;
  EXPECT_EQ(traffic_of(document)->model_bytes_per_step, 8000);
  EXPECT_EQ(traffic_of(document)->ratio, 1);
  document.strategies[0].is_joint = true;
  EXPECT_EQ(traffic_of(document)->model_bytes_per_step, 24'000);
}

TEST(Traffic, AServerBesideItsWorkerIsNotSentTo) {
  RunDocument document = run_of(kAsync, 2, 100, 200'000, 2);
  for (NodeFacts& node : document.nodes) node.duty = "worker and server";
  document.servers = {{.server = 0}, {.server = 1}};
  document.server_workers = 2;
  EXPECT_EQ(traffic_of(document)->model_bytes_per_step, 4000);
}

TEST(Traffic, ASwitchIsTheSumOfItsParts) {
  RunDocument document = run_of(kAllreduce, 2, 10, 5'000, 2);
  document.strategies.push_back({.strategy = "local_sgd:4", .exchange = Exchange::all_reduce, .steps_between = 4, .sends_slots = true});
  document.stretches.push_back({.strategy = "local_sgd:4", .workers = 2, .steps = 30});
  document.run.optimizer_slots = 2;
  const auto traffic = traffic_of(document);
  EXPECT_EQ(traffic->model_bytes_per_step, (10 * 8000 + 30 * 8000 * 3 / 4.0) / 40);
  EXPECT_THAT(traffic->model, HasSubstr("averaged every 4 steps"));
}

TEST(Traffic, NothingMeasuredIsNothingSaid) {
  EXPECT_FALSE(traffic_of(run_of(kAllreduce, 2, 10, kUnknown, 2)).has_value());
  EXPECT_FALSE(traffic_of(RunDocument{}).has_value());
}

}  // namespace
}  // namespace trireme::report
