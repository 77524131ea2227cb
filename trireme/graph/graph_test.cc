// SPDX-License-Identifier: Apache-2.0
// Tests of building graphs: shapes, names, and every message of a layer that doesn't fit.
#include "trireme/graph/graph.h"

#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/graph/builder.h"

namespace trireme::graph {
namespace {

std::string failure(void (*build)(Builder&)) {
  return thrown_error([&] {
    Builder builder;
    build(builder);
  });
}

TEST(Graph, InfersShapes) {
  Builder b;
  const Value x = b.input({3, 32, 32});
  EXPECT_EQ(b.shape(b.conv2d(x, {.filters = 16, .kernel = 3, .stride = 2, .padding = Padding::same()})), Shape({16, 16, 16}));
  EXPECT_EQ(b.shape(b.max_pool(x, {.kernel = 3, .stride = 2})), Shape({3, 15, 15}));
  EXPECT_EQ(b.shape(b.global_average_pool(x)), Shape({3}));
  EXPECT_EQ(b.shape(b.concat({x, x})), Shape({6, 32, 32}));
  const Value sequence = b.input({4, 10});
  EXPECT_EQ(b.shape(b.conv1d(sequence, {.filters = 5, .kernel = 3})), Shape({5, 8}));
  EXPECT_EQ(b.shape(b.average_pool(sequence, {.kernel = 2})), Shape({4, 5}));
  EXPECT_EQ(b.shape(b.flatten(sequence)), Shape({40}));
}

TEST(Graph, LaysParametersOutInForwardOrder) {
  Builder b;
  const Value x = b.batch_norm(b.conv2d(b.input({3, 8, 8}), {.filters = 4, .l2 = 0.5}, "first"));
  const Graph graph = b.finish(b.dense(b.flatten(x), {.units = 2, .bias = false}));
  std::vector<std::string> names;
  for (const Slice& slice : graph.parameters().slices()) names.push_back(slice.name);
  EXPECT_EQ(names, (std::vector<std::string>{"first/kernel", "first/bias", "batch_norm_1/gamma", "batch_norm_1/beta", "dense_1/kernel"}));
  EXPECT_EQ(graph.parameters()[0].shape, Shape({4, 3, 3, 3}));
  EXPECT_EQ(graph.parameters()[0].l2, 0.5);
  EXPECT_EQ(graph.parameters()[4].shape, Shape({2, 144}));
  EXPECT_EQ(graph.states().find("batch_norm_1/variance")->count, 4);
  EXPECT_EQ(graph.node(graph.output()).name, "dense_1");
}

TEST(Graph, CostsAreKnown) {
  Builder b;
  const Graph graph = b.finish(b.conv2d(b.input({3, 5, 5}), {.filters = 4, .kernel = 3}));
  const Cost cost = graph.cost(graph.node(1));
  EXPECT_EQ(cost.forward_flops, 2 * 27 * 36 + 36);
  EXPECT_EQ(cost.backward_flops, 4 * 27 * 36 + 36);
}

TEST(Builder, NamesAreUniqueAndScoped) {
  Builder b;
  const Value x = b.relu(b.input({3}), "relu_1");
  b.relu(x);
  b.scope("block");
  EXPECT_EQ(b.free_name("relu"), "block/relu_1");
  const Graph graph = b.finish(b.relu(x));
  EXPECT_EQ(graph.node(2).name, "relu_2");
  EXPECT_EQ(graph.node(3).name, "block/relu_1");
  EXPECT_EQ(graph.find("relu_2"), &graph.node(2));
  EXPECT_EQ(graph.find("relu_3"), nullptr);
}

TEST(GraphErrors, NameTheLayerItsOpAndTheShapes) {
  EXPECT_EQ(failure([](Builder& b) {
              b.add(b.input({16, 32, 32}), b.input({32, 16, 16}), "add_3");
            }),
            "invalid_argument: layer 'add_3' (add): inputs 16x32x32 and 32x16x16 differ");
  EXPECT_EQ(failure([](Builder& b) {
              b.concat({b.input({3, 4, 4}), b.input({3, 4, 5})});
            }),
            "invalid_argument: layer 'concat_1' (concat): inputs 3x4x4 and 3x4x5 differ in more than their channels");
  EXPECT_EQ(failure([](Builder& b) {
              b.dense(b.input({3, 4, 4}), {.units = 2});
            }),
            "invalid_argument: layer 'dense_1' (dense): needs a vector, the input is 3x4x4; put a flatten layer before it");
  EXPECT_EQ(failure([](Builder& b) {
              b.softmax(b.input({3, 4}));
            }),
            "invalid_argument: layer 'softmax_1' (softmax): needs a vector, the input is 3x4; put a flatten layer before it");
  EXPECT_EQ(failure([](Builder& b) { b.conv2d(b.input({784}), {.filters = 2}); }),
            "invalid_argument: layer 'conv2d_1' (conv2d): needs an image (channels x height x width), the input is 784");
  EXPECT_EQ(failure([](Builder& b) { b.conv1d(b.input({784}), {.filters = 2}); }),
            "invalid_argument: layer 'conv1d_1' (conv1d): needs a sequence (channels x width), the input is 784");
}

TEST(GraphErrors, PoolingSaysWhatItNeeds) {
  EXPECT_EQ(failure([](Builder& b) { b.max_pool(b.input({7}), {}); }),
            "invalid_argument: layer 'max_pool_1' (max_pool): needs an image (channels x height x width) or a sequence (channels x width), "
            "the input is 7");
  EXPECT_EQ(
      failure([](Builder& b) { b.global_average_pool(b.input({7})); }),
      "invalid_argument: layer 'global_average_pool_1' (global_average_pool): needs an image (channels x height x width) or a sequence "
      "(channels x width), the input is 7");
  EXPECT_EQ(failure([](Builder& b) {
              b.average_pool(b.input({1, 7}), {.kernel = 2, .padding = Padding::of(2)});
            }),
            "invalid_argument: layer 'average_pool_1' (average_pool): pad = 2 must be less than kernel = 2, or a window would see nothing");
}

TEST(GraphErrors, OptionsAreCheckedInCppToo) {
  EXPECT_EQ(failure([](Builder& b) {
              b.conv2d(b.input({1, 4, 4}), {.filters = -3});
            }),
            "invalid_argument: layer 'conv2d_1' (conv2d): filters = -3, must be 1 to 1048576");
  EXPECT_EQ(failure([](Builder& b) { b.dense(b.input({4}), {}); }),
            "invalid_argument: layer 'dense_1' (dense): needs units (1 to 16777216)");
  EXPECT_EQ(failure([](Builder& b) { b.dropout(b.input({4}), {.rate = 1}); }),
            "invalid_argument: layer 'dropout_1' (dropout): rate = 1, must be 0 to 0.999");
  EXPECT_EQ(failure([](Builder& b) { b.dense(b.input({4}), {.units = 1, .init = "random"}); }),
            "invalid_argument: layer 'dense_1' (dense): init = \"random\", must be one of glorot_uniform, he_normal, zeros");
}

TEST(GraphErrors, WrongGraphs) {
  EXPECT_EQ(failure([](Builder& b) { b.relu(b.input({4}, "x"), "x"); }),
            "invalid_argument: layer 'x' (relu): the name is taken by an earlier layer");
  EXPECT_EQ(failure([](Builder& b) { b.concat({b.input({4})}); }),
            "invalid_argument: layer 'concat_1' (concat): takes 2 to 64 inputs, was given 1");
  EXPECT_EQ(failure([](Builder& b) { b.apply("relu", NoOptions{}, {}); }),
            "invalid_argument: layer 'relu_1' (relu): takes 1 input, was given 0");
  EXPECT_EQ(failure([](Builder& b) {
              b.input({1, 2, 3, 4});
            }),
            "invalid_argument: an input is a vector, a sequence (channels x width) or an image (channels x height x width), not 1x2x3x4");
  EXPECT_EQ(failure([](Builder& b) { b.apply("input", InputOptions{.height = 4, .width = 4}, {}); }),
            "invalid_argument: layer 'input_1' (input): an image of height 4 and width 4 also needs channels, e.g. 1");
  EXPECT_EQ(failure([](Builder& b) {
              b.input({1 << 20, 1 << 20, 1 << 20});
            }),
            "invalid_argument: layer 'input_1' (input): its output would be 1048576x1048576x1048576, more than any machine holds");
  EXPECT_TRUE(failure([](Builder& b) {
                b.apply("conv3d", ConvOptions{}, {});
              }).starts_with("invalid_argument: there is no op 'conv3d'; did you mean 'conv1d'? (ops: add, average_pool, "));
}

TEST(GraphDeathTest, OptionsOfAnotherOpAreABug) {
  Graph graph;
  EXPECT_DEATH(graph.add("a", "relu", ConvOptions{}, {}), "options are of its op's type");
  EXPECT_DEATH(graph.add("a", "relu", NoOptions{}, {0}), "inputs are added before it");
}

}  // namespace
}  // namespace trireme::graph
