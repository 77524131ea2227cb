// SPDX-License-Identifier: Apache-2.0
// Promises of the executor beside right numbers: order of gradients, remembered choices, no allocation, errors in words.
#include "trireme/engine/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/engine/testing/allocation_watch.h"
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_file.h"
#include "trireme/graph/running_statistics.h"

namespace trireme::engine {
namespace {

// A model with data for a few steps.
struct Fixture {
  graph::Graph graph;
  std::int64_t batch;
  std::vector<float> parameters, states, gradients, input;
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> keys;

  Fixture(graph::Graph g, std::int64_t n)
      : graph(std::move(g)),
        batch(n),
        parameters(static_cast<std::size_t>(graph.parameters().size())),
        states(static_cast<std::size_t>(graph.states().size())),
        gradients(parameters.size()),
        input(static_cast<std::size_t>(n * graph.node(graph.inputs()[0]).shape.count())) {
    graph.initialize_parameters(parameters, 3);
    graph.initialize_states(states);
    RandomStream random(4);
    for (float& x : input) x = static_cast<float>(random.uniform());
    for (std::int64_t i = 0; i < n; ++i) {
      labels.push_back(static_cast<std::int32_t>(random.below(10)));
      keys.push_back(random.bits());
    }
  }
  BatchView view() const { return {.size = batch, .inputs = {input}, .labels = labels, .sample_keys = keys}; }
  ModelView model() { return {parameters, states, gradients}; }
};

graph::Graph small_densenet() {
  Config model;
  model.set("name", "densenet", "test");
  model.set("depth", "10", "test");
  return graph::graph_from_config(model);
}

std::filesystem::path fresh_file(const std::string& name) {
  auto path = std::filesystem::temp_directory_path() / ("trireme_" + name + "_" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  return path;
}

TEST(Executor, GradientsBecomeReadyOnceAndFinalLastLayersFirst) {
  Fixture f(graph::build_model("resnet"), 4);
  Executor executor(f.graph, {.batch_size = 4, .threads = 1});
  std::vector<std::size_t> order;
  std::vector<float> when_ready(f.gradients.size());
  executor.train_step(f.view(), f.model(), [&](std::size_t slice) {
    order.push_back(slice);
    const Slice& s = f.graph.parameters()[slice];
    std::copy_n(f.gradients.begin() + s.offset, s.count, when_ready.begin() + s.offset);
  });
  EXPECT_EQ(order.size(), f.graph.parameters().slices().size());
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), order.size());
  EXPECT_EQ(when_ready, f.gradients);
  // Neighbours may change places (a convolution waits for its input to be computed again), not more.
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_NEAR(static_cast<double>(order[i]), static_cast<double>(order.size() - 1 - i), 6);
}

TEST(Executor, StepsOfTheSameDataAreBitEqual) {
  Fixture a(small_densenet(), 3);
  Fixture b(small_densenet(), 3);
  const auto cache = fresh_file("equal");  // the same choices for both
  Executor first(a.graph, {.batch_size = 3, .threads = 2, .algorithm_cache = cache});
  Executor second(b.graph, {.batch_size = 3, .threads = 2, .algorithm_cache = cache});
  for (int step = 0; step < 2; ++step) {
    first.train_step(a.view(), a.model());
    second.train_step(b.view(), b.model());
  }
  EXPECT_EQ(a.gradients, b.gradients);
  EXPECT_EQ(a.states, b.states);
}

TEST(Executor, ThreadsMayCompileAtOnce) {
  for (std::int64_t batch = 1; batch <= 25; ++batch) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        Config model;
        model.set("name", "mlp_300_100", "test");
        Fixture fixture(graph::graph_from_config(model), batch);
        Executor executor(fixture.graph, {.batch_size = batch});
        EXPECT_GT(executor.train_step(fixture.view(), fixture.model()).loss, 0);
      });
  }
}

TEST(Executor, RemembersTimedChoices) {
  const auto cache = fresh_file("choices");
  const graph::Graph graph = graph::build_model("small_cnn");
  const Executor cold(graph, {.batch_size = 8, .threads = 1, .algorithm_cache = cache});
  EXPECT_GT(cold.report().timed, 0);
  const Executor warm(graph, {.batch_size = 8, .threads = 1, .algorithm_cache = cache});
  EXPECT_EQ(warm.report().timed, 0);
  EXPECT_GE(warm.report().remembered, cold.report().timed);
}

TEST(Executor, BeginsABrokenCacheAnew) {
  const auto cache = fresh_file("broken");
  std::ofstream(cache) << "{ not json";
  const graph::Graph graph = graph::build_model("mlp_128");
  const Executor first(graph, {.batch_size = 8, .threads = 1, .algorithm_cache = cache});
  const Executor second(graph, {.batch_size = 8, .threads = 1, .algorithm_cache = cache});
  EXPECT_EQ(second.report().timed, 0);
}

TEST(Executor, AllocatesNothingLargeInAStep) {
  Fixture f(small_densenet(), 4);
  Executor executor(f.graph, {.batch_size = 4, .threads = 1});
  executor.train_step(f.view(), f.model());
  reset_largest_allocation();
  executor.train_step(f.view(), f.model());
  EXPECT_LT(largest_allocation(), 4096U);  // oneDNN keeps its books of arguments, nothing the size of data
}

TEST(Executor, PlansMemoryByLiveness) {
  // Without reuse the activations and their gradients alone would take more than twice as much.
  const graph::Graph graph = graph::build_model("densenet");
  const Executor executor(graph, {.batch_size = 16, .threads = 1});
  double activations = 0;
  for (const graph::Node& node : graph.nodes()) activations += static_cast<double>(node.shape.count()) * 16 * sizeof(float);
  EXPECT_LT(static_cast<double>(executor.report().activation_bytes), 0.6 * activations);
}

// Of channel 1, and the unbiased variance.
std::pair<double, double> statistics_of(const Fixture& f) {
  double mean = 0, squares = 0;
  for (std::size_t n = 0; n < 6; ++n) {
    for (std::size_t p = 0; p < 16; ++p) {
      const auto value = static_cast<double>(f.input[n * 48 + 16 + p]);  // channel 1
      mean += value / 96;
      squares += value * value / 96;
    }
  }
  return {mean, (squares - mean * mean) * 96 / 95};
}

graph::Graph normalised(double momentum) {
  graph::Builder b;
  const auto x = b.batch_norm(b.input({3, 4, 4}), {.momentum = momentum});
  return b.finish(b.dense(b.flatten(x), {.units = 10}));
}

// What they were before counts nothing: the first batch is copied, and two weigh the same.
TEST(Executor, RunningStatisticsAreTheMeanOfTheFirstBatches) {
  Fixture f(normalised(0.99), 6);
  Executor executor(f.graph, {.batch_size = 6, .threads = 1});
  const auto first = statistics_of(f);
  executor.train_step(f.view(), f.model());
  EXPECT_NEAR(static_cast<double>(f.states[1]), first.first, 1e-6);
  EXPECT_NEAR(static_cast<double>(f.states[3 + 1]), first.second, 1e-6);
  EXPECT_EQ(f.states[6], 1);
  for (float& value : f.input) value = 3 * value + 1;
  const auto second = statistics_of(f);
  executor.train_step(f.view(), f.model());
  EXPECT_NEAR(static_cast<double>(f.states[1]), (first.first + second.first) / 2, 1e-5);
  EXPECT_NEAR(static_cast<double>(f.states[3 + 1]), (first.second + second.second) / 2, 1e-5);
  EXPECT_EQ(f.states[6], 2);
}

TEST(Executor, RunningStatisticsFollowTheBatchAfterMany) {
  Fixture f(normalised(0.75), 6);
  f.states[6] = graph::kManyUpdates;
  Executor executor(f.graph, {.batch_size = 6, .threads = 1});
  executor.train_step(f.view(), f.model());
  const auto [mean, variance] = statistics_of(f);
  EXPECT_NEAR(static_cast<double>(f.states[1]), 0.25 * mean, 1e-6);
  EXPECT_NEAR(static_cast<double>(f.states[3 + 1]), 0.75 + 0.25 * variance, 1e-6);
  EXPECT_EQ(f.states[6], 4);
}

TEST(Executor, SaysWhatIsWrongWithABatch) {
  Fixture f(graph::build_model("mlp_128"), 4);
  Executor executor(f.graph, {.batch_size = 4, .threads = 1});
  const auto message_of = [&](const BatchView& batch) -> std::string {
    try {
      executor.train_step(batch, f.model());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  BatchView batch = f.view();
  batch.size = 5;
  EXPECT_THAT(message_of(batch), testing::HasSubstr("5 given, 4 needed"));
  batch = f.view();
  batch.labels = batch.labels.first(2);
  EXPECT_THAT(message_of(batch), testing::HasSubstr("labels"));
  f.labels[2] = 10;
  EXPECT_THAT(message_of(f.view()), testing::AllOf(testing::HasSubstr("label 10"), testing::HasSubstr("10 classes")));
  EXPECT_THROW(Executor(f.graph, {.batch_size = 0}), Error);
}

TEST(Executor, TrainsSmallModelToFitItsBatch) {
  Fixture f(graph::build_model("small_cnn"), 8);
  Executor executor(f.graph, {.batch_size = 8, .threads = 1});
  const double before = executor.train_step(f.view(), f.model()).loss;
  Outcome last;
  for (int step = 0; step < 60; ++step) {
    for (std::size_t i = 0; i < f.parameters.size(); ++i) f.parameters[i] -= 0.05F * f.gradients[i];
    last = executor.train_step(f.view(), f.model());
  }
  EXPECT_LT(last.loss, before / 5);
}

}  // namespace
}  // namespace trireme::engine
