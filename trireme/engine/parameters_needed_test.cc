// SPDX-License-Identifier: Apache-2.0
// For every model of the zoo: when a training step says that it needs values, and that they may change whenever it does not.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_file.h"

namespace trireme::engine {
namespace {

constexpr std::int64_t kSamples = 3;
constexpr int kSteps = 2;

struct Work {
  graph::Graph graph;
  Executor executor;
  std::vector<float> input;
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> keys;

  Work(graph::Graph g, int threads) : graph(std::move(g)), executor(graph, {.batch_size = kSamples, .threads = threads}) {
    RandomStream random(4);
    input.resize(static_cast<std::size_t>(kSamples * graph.node(graph.inputs()[0]).shape.count()));
    for (float& x : input) x = static_cast<float>(random.uniform());
    for (std::int64_t i = 0; i < kSamples; ++i) {
      labels.push_back(static_cast<std::int32_t>(random.below(10)));
      keys.push_back(random.bits());
    }
  }
  std::size_t slices() const { return graph.parameters().slices().size(); }
  BatchView view() const { return {.size = kSamples, .inputs = {input}, .labels = labels, .sample_keys = keys}; }
};

struct Values {
  std::vector<float> parameters, states, gradients;
  std::vector<double> penalties;

  explicit Values(const graph::Graph& graph)
      : parameters(static_cast<std::size_t>(graph.parameters().size())),
        states(static_cast<std::size_t>(graph.states().size())),
        gradients(parameters.size()) {
    for (std::size_t i = 0; i < parameters.size(); ++i)  // real initial values take long to draw
      parameters[i] = static_cast<float>(i * 40503 % 65536) / 655360.0F - 0.05F;
    graph.initialize_states(states);
  }
  void descend() {
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] -= 0.01F * gradients[i];
  }
};

// Values of a slice are there only from `needed` to `ready`; else the memory that the step reads holds NaN.
void run_disturbed(Work& work, Values& values) {
  std::vector<float> shown(values.parameters.size(), std::numeric_limits<float>::quiet_NaN());
  const auto slice = [&](std::vector<float>& of, std::size_t index) { return of.begin() + work.graph.parameters()[index].offset; };
  const auto count = [&](std::size_t index) { return work.graph.parameters()[index].count; };
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::size_t> needed, ready;
    const Outcome outcome = work.executor.train_step(
        work.view(), {shown, values.states, values.gradients},
        [&](std::size_t s) {
          EXPECT_EQ(std::ranges::count(needed, s), 1) << s;
          std::fill_n(slice(shown, s), count(s), std::numeric_limits<float>::quiet_NaN());
          ready.push_back(s);
        },
        {},
        [&, caller = std::this_thread::get_id()](std::size_t s) {
          EXPECT_FALSE(omp_in_parallel());
          EXPECT_EQ(std::this_thread::get_id(), caller);
          std::copy_n(slice(values.parameters, s), count(s), slice(shown, s));
          needed.push_back(s);
        });
    values.penalties.push_back(outcome.penalty);
    EXPECT_EQ(needed.size(), work.slices());
    EXPECT_EQ(ready.size(), work.slices());
    // Layers that run together may change places.
    for (std::size_t i = 0; i < needed.size(); ++i) EXPECT_NEAR(static_cast<double>(needed[i]), static_cast<double>(i), 8);
    values.descend();
  }
}

bool is_large(std::string_view name) { return name == "vgg16" || name == "resnet50"; }

// The large ones, made for photographs, get small images.
graph::Graph small(std::string_view name) {
  if (!is_large(name)) return graph::build_model(name);
  Config model;
  model.set("name", std::string(name), "test");
  for (const char* side : {"height", "width"}) model.set(side, "32", "test");
  model.set("l2", "0.001", "test");
  return graph::graph_from_config(model);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class ParametersNeededByZoo : public testing::TestWithParam<std::string_view> {};

TEST_P(ParametersNeededByZoo, ValuesMayChangeFromReadyToNeeded) {
  for (int threads = is_large(GetParam()) ? 2 : 1; threads <= 2; ++threads) {
    Work work(small(GetParam()), threads);
    Values plain(work.graph), disturbed(work.graph);
    for (int step = 0; step < kSteps; ++step) {
      plain.penalties.push_back(work.executor.train_step(work.view(), {plain.parameters, plain.states, plain.gradients}).penalty);
      plain.descend();
    }
    run_disturbed(work, disturbed);
    EXPECT_TRUE(same_bits(plain.gradients, disturbed.gradients));
    EXPECT_TRUE(same_bits(plain.states, disturbed.states));
    EXPECT_EQ(plain.penalties, disturbed.penalties);
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const auto& entry : graph::zoo::catalog()) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Zoo, ParametersNeededByZoo, testing::ValuesIn(names()),
                         [](const auto& model) { return std::string(model.param); });

// Forward has passed the layers before: their running statistics have moved.
TEST(ParametersNeeded, LaterLayersAreAskedForWhenEarlierOnesAreComputed) {
  Work work(graph::build_model("resnet"), 2);
  Values values(work.graph);
  const std::vector<float> before = values.states;
  std::vector<float> when_last;
  work.executor.train_step(work.view(), {values.parameters, values.states, values.gradients}, {}, {}, [&](std::size_t slice) {
    if (slice + 1 == work.slices()) when_last = values.states;
  });
  EXPECT_TRUE(same_bits(when_last, values.states));
  EXPECT_FALSE(same_bits(before, values.states));
}

TEST(ParametersNeeded, AFaultOfTheHookLeavesTheExecutorUsable) {
  Work work(graph::build_model("small_cnn"), 2);
  Values values(work.graph), other(work.graph);
  const auto fail = [](std::size_t slice) {
    if (slice == 2) throw std::runtime_error("gone");
  };
  const ModelView view{other.parameters, other.states, other.gradients};
  EXPECT_THROW(work.executor.train_step(work.view(), view, {}, {}, fail), std::runtime_error);
  work.executor.train_step(work.view(), {values.parameters, values.states, values.gradients});
  work.executor.train_step(work.view(), view);
  EXPECT_TRUE(same_bits(values.gradients, other.gradients));
}

}  // namespace
}  // namespace trireme::engine
