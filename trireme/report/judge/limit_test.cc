// SPDX-License-Identifier: Apache-2.0
// Tests of what is said to have limited a run, with made-up steps.
#include "trireme/report/judge/limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// 3 workers on 3 machines; a step of 100 ms.
StepFacts step() {
  StepFacts facts;
  facts.strategy = {.strategy = "allreduce", .exchange = StrategyFacts::Exchange::all_reduce};
  facts.steps = 500;
  facts.workers = facts.machines = 3;
  facts.step = 0.1;
  facts.compute = 0.09;
  facts.exposed = facts.exposed_least = 0.005;
  facts.exchange = 0.03;
  facts.optimizer = 0.003;
  facts.input_wait = 0.001;
  facts.idle = 0.001;
  facts.parameters = 1e6;
  facts.buckets = 4;
  facts.bytes_per_step = 5.33e6;
  facts.cluster_cpu = 0.6;
  return facts;
}

StepFacts with_exchange() {
  StepFacts facts = step();
  facts.compute = 0.03;
  facts.exposed = facts.exposed_least = 0.06;
  facts.exchange = 0.08;
  return facts;
}

TEST(Limit, ComputingSaysHowMuchTheRestCouldGain) {
  const Limit limit = limit_of(step());
  EXPECT_EQ(limit.kind, "compute");
  EXPECT_THAT(limit.sentence, HasSubstr("90 % of a step (90 ms of 100 ms)"));
  EXPECT_THAT(limit.sentence, HasSubstr("at most 1.11 times as fast"));
}

TEST(Limit, LargeMessagesAreBandwidthSmallOnesLatency) {
  StepFacts facts = with_exchange();
  Limit limit = limit_of(facts);
  EXPECT_EQ(limit.kind, "exchange");
  EXPECT_THAT(limit.sentence, HasSubstr("60 % of a step"));
  EXPECT_THAT(limit.sentence, HasSubstr("5.33 MB a step went at 66.6 MB/s"));
  EXPECT_THAT(limit.sentence, HasSubstr("bandwidth counts more than latency"));
  EXPECT_THAT(limit.sentence, HasSubstr("Next is computing (forward and backward) with 30 %"));
  facts.bytes_per_step = 20e3;
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("latency counts more than bandwidth"));
  facts.bytes_per_step = kUnknown;
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("can't be distinguished"));
}

TEST(Limit, OnOneBusyMachineTheWaitIsForItsCores) {
  StepFacts facts = with_exchange();
  facts.machines = 1;
  facts.cluster_cpu = 0.97;
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("cores are 97 % busy"));
  EXPECT_THAT(limit_of(facts).sentence, Not(HasSubstr("bandwidth")));
}

TEST(Limit, AStragglerIsNamedOnlyIfOthersWaitForIt) {
  StepFacts facts = with_exchange();
  facts.slowest = "node 2 on lab3";
  facts.slowness = 1.8;
  EXPECT_EQ(limit_of(facts).kind, "exchange") << "all wait alike, so it is not for that node";
  facts.exposed_least = 0.01;
  EXPECT_EQ(limit_of(facts).kind, "straggler");
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("node 2 on lab3 takes 1.8 times as long"));
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("50 % of a step"));
}

TEST(Limit, InputOptimizerServersAndStart) {
  StepFacts facts = step();
  facts.compute = 0.02;
  facts.input_wait = 0.07;
  facts.decode = 0.2;
  EXPECT_EQ(limit_of(facts).kind, "input");
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("a batch is 200 ms of work in the background"));

  facts.input_wait = 0.001;
  facts.optimizer = 0.07;
  EXPECT_EQ(limit_of(facts).kind, "optimizer");

  facts.server_wait_share = 0.5;
  facts.servers_needed = 2;
  EXPECT_EQ(limit_of(facts).kind, "servers");
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("2 servers would keep up"));
  facts.servers_needed = 18;
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("too short for parameter servers"));

  facts.startup_seconds = 30;
  facts.elapsed_seconds = 10;
  EXPECT_EQ(limit_of(facts).kind, "startup");
}

TEST(Limit, ForeignProgramsAreReported) {
  StepFacts facts = step();
  facts.cores = 8;
  facts.elapsed_seconds = 60;
  facts.foreign_cores = 1.5;
  EXPECT_THAT(limit_of(facts).sentence, Not(HasSubstr("Other programs")));
  facts.foreign_cores = 3.2;
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("Other programs kept 3.2 of the 8 cores busy"));
}

TEST(Limit, NothingStandsOutIsAnAnswer) {
  StepFacts facts = step();
  facts.compute = 0.035;
  facts.exposed = 0.03;
  facts.input_wait = 0.03;
  EXPECT_EQ(limit_of(facts).kind, "unknown");
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("Nothing stands out"));
  facts.steps = 3;
  EXPECT_THAT(limit_of(facts).sentence, HasSubstr("Only 3 steps"));
  EXPECT_EQ(limit_of(StepFacts{}).kind, "unknown");
}

}  // namespace
}  // namespace trireme::report
