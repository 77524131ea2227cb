// SPDX-License-Identifier: Apache-2.0
// Tests of the analytic traffic of strategies against bytes that were counted.
#include "trireme/report/judge/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::report {
namespace {

using testing::HasSubstr;

RunDocument run_of(const std::string& strategy, double workers, double steps, double sent_by_each, int nodes) {
  RunDocument document;
  document.run.parameters = 1000;
  document.run.strategy = strategy;
  document.stretches = {{.strategy = strategy, .workers = workers, .steps = steps}};
  for (int i = 0; i < nodes; ++i) document.nodes.push_back({.node = std::to_string(i), .duty = "worker", .bytes_sent = sent_by_each});
  return document;
}

TEST(Traffic, ARingSendsTwiceTheModelLessOneShare) {
  const auto traffic = traffic_of(run_of("allreduce", 4, 10, 60'000, 4));
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->model_bytes_per_step, 2 * 3 * 4000);
  EXPECT_EQ(traffic->measured_bytes_per_step, 24'000);
  EXPECT_EQ(traffic->ratio, 1);
  EXPECT_EQ(traffic_of(run_of("allreduce,wire=bf16", 4, 10, 60'000, 4))->ratio, 2);
}

TEST(Traffic, EveryWorkerPushesAndPulls) {
  RunDocument document = run_of("ps:async", 3, 100, 200'000, 4);
  document.nodes[0].duty = "server";
  document.servers = {{.server = 0}};
  document.server_workers = 3;
  EXPECT_EQ(traffic_of(document)->model_bytes_per_step, 8000);
  EXPECT_EQ(traffic_of(document)->ratio, 1);
  for (const char* in_step : {"ps:bsp", "ps:ssp:0", "ps:ssp:0,servers=1", "ps:bsp:5"}) {
    document.stretches[0].strategy = in_step;
    EXPECT_EQ(traffic_of(document)->model_bytes_per_step, 24'000) << in_step;
  }
  for (const char* out_of_step : {"ps:ssp", "ps:ssp:1", "ps:dssp", "ps:ssp:04"}) {
    document.stretches[0].strategy = out_of_step;
    EXPECT_EQ(traffic_of(document)->model_bytes_per_step, 8000) << out_of_step;
  }
}

TEST(Traffic, AServerBesideItsWorkerIsNotSentTo) {
  RunDocument document = run_of("ps:async", 2, 100, 200'000, 2);
  for (NodeFacts& node : document.nodes) node.duty = "worker and server";
  document.servers = {{.server = 0}, {.server = 1}};
  document.server_workers = 2;
  EXPECT_EQ(traffic_of(document)->model_bytes_per_step, 4000);
}

TEST(Traffic, ASwitchIsTheSumOfItsParts) {
  RunDocument document = run_of("allreduce", 2, 10, 5'000, 2);
  document.stretches.push_back({.strategy = "local_sgd:4", .workers = 2, .steps = 30});
  document.run.optimizer_slots = 2;
  const auto traffic = traffic_of(document);
  EXPECT_EQ(traffic->model_bytes_per_step, (10 * 8000 + 30 * 8000 * 3 / 4.0) / 40);
  EXPECT_THAT(traffic->model, HasSubstr("averaged every 4 steps"));
}

TEST(Traffic, NothingMeasuredIsNothingSaid) {
  EXPECT_FALSE(traffic_of(run_of("allreduce", 2, 10, kUnknown, 2)).has_value());
  EXPECT_FALSE(traffic_of(RunDocument{}).has_value());
}

}  // namespace
}  // namespace trireme::report
