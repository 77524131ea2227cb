// SPDX-License-Identifier: Apache-2.0
// Tests of the reference kernels against values computed by hand, and of every example of the catalogue.
#include "trireme/graph/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "trireme/base/random.h"
#include "trireme/graph/builder.h"

namespace trireme::graph {
namespace {

using testing::DoubleNear;
using testing::Pointwise;
using Values = std::vector<double>;

struct Case {
  std::int64_t batch = 1;
  bool training = true;
  Values parameters = {};
  Values states = {};
  std::vector<std::uint64_t> sample_keys = {};
};

Values counted(std::int64_t count) {
  Values values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// The output of the op applied to one input.
Values run(std::string_view op, std::any options, const Shape& shape, const Values& x, const Case& c = {}) {
  Builder b;
  const Value value = b.input(shape);
  const Graph graph = b.finish(b.apply(op, std::move(options), {value}, "layer"));
  return run_reference(graph, {.batch = c.batch,
                               .training = c.training,
                               .inputs = {x},
                               .parameters = c.parameters,
                               .states = c.states,
                               .sample_keys = c.sample_keys})
      .back();
}

TEST(Reference, Conv2d) {
  // 3x3 image 1..9, kernel [[1, 2], [3, 4]], bias 10.
  EXPECT_EQ(run("conv2d", ConvOptions{.filters = 1, .kernel = 2}, {1, 3, 3}, counted(9), {.parameters = {1, 2, 3, 4, 10}}),
            (Values{47, 57, 77, 87}));
  // `same` with an even kernel: one zero at the bottom and at the right.
  EXPECT_EQ(run("conv2d", ConvOptions{.filters = 1, .kernel = 2, .padding = Padding::same(), .bias = false}, {1, 2, 2}, counted(4),
                {.parameters = {1, 1, 1, 1}}),
            (Values{10, 6, 7, 4}));
}

TEST(Reference, Conv1d) {
  // Two channels, stride 2: channel 0 is 1 2 3 4, channel 1 is 5 6 7 8.
  EXPECT_EQ(run("conv1d", ConvOptions{.filters = 1, .kernel = 2, .stride = 2}, {2, 4}, counted(8), {.parameters = {1, 0, 0, 1, 0.5}}),
            (Values{7.5, 11.5}));
}

TEST(Reference, Dense) {
  EXPECT_EQ(run("dense", DenseOptions{.units = 2}, {3}, {1, 2, 3, 0, 0, 1}, {.batch = 2, .parameters = {1, 0, 2, 0, 1, 0, 0.5, -1}}),
            (Values{7.5, 1, 2.5, -1}));
}

TEST(Reference, BatchNorm) {
  const BatchNormOptions exact{.epsilon = 0};
  // One channel holds 1, 3 over the batch: mean 2, biased variance 1; the other is shifted and scaled.
  EXPECT_EQ(run("batch_norm", exact, {2}, {1, 10, 3, 30}, {.batch = 2, .parameters = {1, 2, 0, 5}, .states = {0, 0, 1, 1, 0}}),
            (Values{-1, 3, 1, 7}));
  EXPECT_EQ(run("batch_norm", exact, {1, 2}, {6, 10}, {.training = false, .parameters = {3, 1}, .states = {2, 4, 9}}), (Values{7, 13}));
}

TEST(Reference, Activations) {
  EXPECT_EQ(run("relu", NoOptions{}, {3}, {-1, 0, 2}), (Values{0, 0, 2}));
  EXPECT_THAT(run("sigmoid", NoOptions{}, {2}, {0, std::log(3.0)}), Pointwise(DoubleNear(1e-12), Values{0.5, 0.75}));
  EXPECT_THAT(run("tanh", NoOptions{}, {2}, {0, std::log(3.0)}), Pointwise(DoubleNear(1e-12), Values{0, 0.8}));
  EXPECT_THAT(run("softmax", NoOptions{}, {2}, {1000, 1000 + std::log(3.0)}), Pointwise(DoubleNear(1e-12), Values{0.25, 0.75}));
}

TEST(Reference, Pooling) {
  const PoolOptions overlapping{.kernel = 3, .stride = 2, .padding = Padding::same()};
  // 4x4 image 1..16: `same` pads only at the bottom and the right.
  EXPECT_EQ(run("max_pool", overlapping, {1, 4, 4}, counted(16)), (Values{11, 12, 15, 16}));
  EXPECT_EQ(run("average_pool", overlapping, {1, 4, 4}, counted(16)), (Values{6, 7.5, 12, 13.5}));
  EXPECT_EQ(run("max_pool", PoolOptions{.kernel = 2, .padding = Padding::of(1)}, {1, 2}, {-3, -4}), (Values{-3, -4}));
  EXPECT_EQ(run("average_pool", PoolOptions{.kernel = 2}, {2, 2}, {1, 3, 5, 9}), (Values{2, 7}));
  EXPECT_EQ(run("global_average_pool", NoOptions{}, {2, 1, 2}, {1, 3, 5, 9}), (Values{2, 7}));
}

TEST(Reference, DropoutFollowsTheKeyOfSampleAndLayer) {
  const Values x(1000, 3);
  const Case c{.batch = 2, .sample_keys = {7, 8}};
  const Values y = run("dropout", DropoutOptions{.rate = 0.25}, {500}, x, c);
  int kept = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::uint32_t key = layer_key(c.sample_keys[i / 500], "layer");
    const bool keeps = random_bits(key, static_cast<std::uint32_t>(i % 500)) >= 0x40000000U;
    ASSERT_EQ(y[i], keeps ? 4 : 0);
    kept += keeps ? 1 : 0;
  }
  EXPECT_NEAR(kept, 750, 50);
  EXPECT_EQ(run("dropout", DropoutOptions{.rate = 0.25}, {500}, x, {.batch = 2, .training = false}), x);
  EXPECT_NE(layer_key(7, "layer"), layer_key(7, "other"));
}

TEST(Reference, SeveralInputs) {
  Builder b;
  const Value x = b.input({1, 2});
  const Value y = b.input({2, 2});
  const Value forward = b.concat({x, y});
  const Value backward = b.concat({y, x});
  const Graph graph = b.finish(b.add(forward, backward));
  const Values xs{1, 2, 3, 4};
  const Values ys{10, 20, 30, 40, 50, 60, 70, 80};
  const std::vector<Values> outputs = run_reference(graph, {.batch = 2, .inputs = {xs, ys}});
  EXPECT_EQ(outputs[2], (Values{1, 2, 10, 20, 30, 40, 3, 4, 50, 60, 70, 80}));
  EXPECT_EQ(outputs[4], (Values{11, 22, 40, 60, 31, 42, 53, 64, 120, 140, 73, 84}));
}

TEST(Reference, EveryExampleOfEveryOpRuns) {
  for (const OpEntry& op : ops::catalog()) {
    EXPECT_GE(op.examples().size(), 2U) << op.name;
    for (const Example& example : op.examples()) {
      Builder b;
      std::vector<Value> inputs;
      for (const Shape& shape : example.inputs) inputs.push_back(b.input(shape));
      const Graph graph = b.finish(b.apply(op.name, example.options, inputs));
      constexpr std::int64_t kBatch = 3;
      std::vector<Values> data;
      for (const NodeId id : graph.inputs()) data.push_back(counted(kBatch * graph.node(id).shape.count()));
      const Values parameters(static_cast<std::size_t>(graph.parameters().size()), 0.5);
      const Values states(static_cast<std::size_t>(graph.states().size()), 0.5);
      const std::vector<std::uint64_t> keys{1, 2, 3};
      const auto outputs = run_reference(
          graph, {.batch = kBatch, .inputs = {data.begin(), data.end()}, .parameters = parameters, .states = states, .sample_keys = keys});
      for (const double value : outputs[graph.output()]) ASSERT_TRUE(std::isfinite(value)) << op.name;
      EXPECT_GE(graph.cost(graph.node(graph.output())).forward_flops, 0) << op.name;
    }
  }
}

}  // namespace
}  // namespace trireme::graph
