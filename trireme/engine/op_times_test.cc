// SPDX-License-Identifier: Apache-2.0
// A watched training step: every op is there, the sums are right, and the numbers are those of an unwatched one.
#include "trireme/engine/op_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "trireme/base/random.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_file.h"

namespace trireme::engine {
namespace {

graph::Graph model(const std::string& name, const std::string& option = "", const std::string& value = "") {
  Config config;
  config.set("name", name, "test");
  if (!option.empty()) config.set(option, value, "test");
  return graph::graph_from_config(config);
}

struct Training {
  Training(graph::Graph g, int threads)
      : graph(std::move(g)),
        executor(graph, {.batch_size = 8, .threads = threads, .algorithms = Algorithms::direct}),
        parameters(static_cast<std::size_t>(graph.parameters().size())),
        states(static_cast<std::size_t>(graph.states().size())),
        gradients(parameters.size()),
        input(static_cast<std::size_t>(8 * graph.node(graph.inputs()[0]).shape.count())),
        labels(8, 3),
        keys(8, 5) {
    graph.initialize_parameters(parameters, 3);
    graph.initialize_states(states);
    RandomStream random(4);
    for (float& x : input) x = static_cast<float>(random.uniform());
  }
  void step() {
    executor.train_step({.size = 8, .inputs = {input}, .labels = labels, .sample_keys = keys}, {parameters, states, gradients},
                        [](std::size_t) {});
  }

  graph::Graph graph;
  Executor executor;
  std::vector<float> parameters, states, gradients, input;
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> keys;
};

struct Case {
  std::string name, option, value;
  int threads = 1;
};

class OpTimesOf : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Models, OpTimesOf,
                         testing::Values(Case{"mlp_128", "", "", 1}, Case{"mlp_128", "", "", 2}, Case{"resnet", "depth", "8", 1},
                                         Case{"resnet", "depth", "8", 2}, Case{"densenet", "depth", "10", 1},
                                         Case{"densenet", "depth", "10", 2}),
                         [](const auto& of) { return of.param.name + "_" + std::to_string(of.param.threads); });

struct Sums {
  double forward = 0, backward = 0;
};

// What a thread did, one thing at a time, each in its pass.
void add_lane(const std::vector<OpTimes::Run>& lane, const OpTimes& times, const OpTable& table, Sums& sums) {
  double last = times.begin;
  for (const OpTimes::Run& run : lane) {
    EXPECT_GE(run.begin, last) << "a thread does one thing at a time";
    last = run.begin + run.seconds;
    const OpRow& row = table.rows[table.steps[run.step].row];
    const bool is_forward = run.begin < times.forward_end;
    if (row.category != "exchange") {
      EXPECT_EQ(row.pass == Pass::forward, is_forward) << row.name;
    }
    (is_forward ? sums.forward : sums.backward) += run.share * run.seconds;
  }
  EXPECT_LE(last, times.end);
}

TEST_P(OpTimesOf, MakeUpTheStepWithNothingTwice) {
  Training training(model(GetParam().name, GetParam().option, GetParam().value), GetParam().threads);
  OpTimes times;
  training.executor.watch(&times);
  double ops = 0, all = 0;
  for (int i = 0; i < 3; ++i) {
    training.step();
    Sums sums;
    for (const auto& lane : times.lanes) add_lane(lane, times, training.executor.ops(), sums);
    EXPECT_LE(sums.forward, 1.0001 * (times.forward_end - times.begin));
    EXPECT_LE(sums.backward, 1.0001 * (times.end - times.forward_end));
    ops += sums.forward + sums.backward;
    all += times.end - times.begin;
  }
  if (GetParam().threads == 1) {
    EXPECT_GT(ops, 0.5 * all);  // what is between ops is little, unless others use this core
  }
}

TEST_P(OpTimesOf, HoldEveryNodeThatComputesOnceAPass) {
  Training training(model(GetParam().name, GetParam().option, GetParam().value), GetParam().threads);
  OpTimes times;
  training.executor.watch(&times);
  training.step();
  const OpTable& table = training.executor.ops();
  std::map<std::uint32_t, double> shares;  // by step: a whole one counts 1, one by part the same over all its parts and lanes
  for (const auto& lane : times.lanes)
    for (const OpTimes::Run& run : lane) shares[run.step] += 1;
  for (std::size_t step = 0; step < table.waiting_for_values(); ++step) EXPECT_GE(shares[static_cast<std::uint32_t>(step)], 1) << step;
  double flops = 0;
  std::map<std::string, int> forwards;
  for (const OpRow& row : table.rows) {
    flops += row.flops;
    if (row.pass == Pass::forward && row.flops > 0) ++forwards[row.name];
  }
  for (const auto& [name, count] : forwards) EXPECT_EQ(count, 1) << name;
  double cost = 0;
  for (const graph::Node& node : training.graph.nodes()) cost += training.graph.cost(node).forward_flops;
  EXPECT_GT(flops, 1.5 * cost);  // forward, and backward of nearly all
  EXPECT_EQ(shares[static_cast<std::uint32_t>(table.handing_over())], static_cast<double>(training.graph.parameters().slices().size()));
}

TEST_P(OpTimesOf, ChangeNoBit) {
  Training plain(model(GetParam().name, GetParam().option, GetParam().value), GetParam().threads);
  Training watched(model(GetParam().name, GetParam().option, GetParam().value), GetParam().threads);
  OpTimes times;
  watched.executor.watch(&times);
  for (int i = 0; i < 2; ++i) {
    plain.step();
    watched.step();
  }
  EXPECT_EQ(plain.gradients, watched.gradients);
  EXPECT_EQ(plain.states, watched.states);
}

TEST(OpTable, ShowsWhatWasFused) {
  const Training training(model("resnet"), 1);
  bool is_there = false;
  for (const OpRow& row : training.executor.ops().rows) is_there = is_there || (row.category == "batch norm" && row.fused.size() == 2);
  EXPECT_TRUE(is_there) << "the residual addition and the ReLU after it run with the batch normalisation";
}

}  // namespace
}  // namespace trireme::engine
