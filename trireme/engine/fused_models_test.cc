// SPDX-License-Identifier: Apache-2.0
// Small models in which ops meet: each fusion, concatenation in pieces and copied, recomputation, shared gradients.
#include <gtest/gtest.h>

#include "trireme/engine/testing/model_check.h"
#include "trireme/graph/builder.h"

namespace trireme::engine {
namespace {

using graph::Builder;
using graph::Padding;
using graph::Value;

const graph::ConvOptions kThree{.filters = 5, .kernel = 3, .padding = Padding::same()};

void check(const graph::Graph& graph) {
  check_training(graph, {.samples = 4});
  check_training(graph, {.samples = 3, .spare = 2, .threads = 2, .seed = 9});
  check_evaluation(graph, {.samples = 2});
}

TEST(FusedModels, ConvolutionReluAndMaxPool) {
  Builder b;
  Value x = b.relu(b.conv2d(b.input({3, 8, 8}), kThree));
  x = b.relu(b.conv2d(x, kThree));
  x = b.dropout(b.max_pool(x, {.kernel = 2}), {.rate = 0.25});
  x = b.dropout(b.relu(b.dense(b.flatten(x), {.units = 9})), {.rate = 0.5});
  check(b.finish(b.dense(x, {.units = 4}), "mean_squared_error"));
}

TEST(FusedModels, ResidualBlockWithIdentity) {
  Builder b;
  const Value s = b.relu(b.batch_norm(b.conv2d(b.input({3, 6, 6}), kThree)));
  Value x = b.relu(b.batch_norm(b.conv2d(s, kThree)));
  x = b.batch_norm(b.conv2d(x, kThree));
  const Value y = b.relu(b.add(s, x));
  Value z = b.relu(b.batch_norm(b.conv2d(y, kThree)));
  z = b.relu(b.add(y, b.batch_norm(b.conv2d(z, kThree))));
  check(b.finish(b.dense(b.global_average_pool(z), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, ResidualBlockWithProjection) {
  Builder b;
  const Value s = b.relu(b.batch_norm(b.conv2d(b.input({3, 6, 6}), kThree)));
  const graph::ConvOptions down{.filters = 18, .kernel = 3, .stride = 2, .padding = Padding::same()};
  Value x = b.batch_norm(b.conv2d(s, down));
  const Value shortcut = b.batch_norm(b.conv2d(s, {.filters = 18, .kernel = 1, .stride = 2}));
  x = b.relu(b.add(x, shortcut));
  check(b.finish(b.dense(b.global_average_pool(x), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, PreActivationBlocks) {
  Builder b;
  Value stream = b.conv2d(b.input({3, 6, 6}), kThree);
  for (int block = 0; block < 3; ++block) {
    const Value y = b.conv2d(b.relu(b.batch_norm(stream)), kThree);
    stream = b.add(block == 0 ? b.conv2d(stream, {.filters = 5, .kernel = 1}) : stream, b.conv2d(b.relu(b.batch_norm(y)), kThree));
  }
  check(b.finish(b.dense(b.global_average_pool(b.relu(b.batch_norm(stream))), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, DenseBlockInPieces) {
  Builder b;
  Value x = b.conv2d(b.input({1, 8, 8}), {.filters = 10, .kernel = 3, .padding = Padding::same(), .bias = false});
  for (int layer = 0; layer < 3; ++layer) {
    Value y = b.dropout(b.conv2d(b.relu(b.batch_norm(x)), {.filters = 20, .kernel = 1, .bias = false}), {.rate = 0.2});
    y = b.dropout(b.conv2d(b.relu(b.batch_norm(y)), kThree), {.rate = 0.2});
    x = b.concat({x, y});
  }
  x = b.average_pool(b.dropout(b.conv2d(b.relu(b.batch_norm(x)), {.filters = 7, .kernel = 1}), {.rate = 0.1}), {.kernel = 2});
  x = b.concat({x, b.conv2d(x, kThree)});
  check(b.finish(b.dense(b.global_average_pool(b.relu(b.batch_norm(x))), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, ConcatenationThatMustBeCopied) {
  Builder b;
  const Value x = b.conv2d(b.input({3, 6, 6}), kThree);
  const Value y = b.conv2d(x, {.filters = 17, .kernel = 3, .padding = Padding::same()});
  const Value both = b.concat({x, y, x});
  const Value read = b.conv2d(both, kThree);                        // with holes between the segments
  const Value pooled = b.flatten(b.max_pool(both, {.kernel = 3}));  // and without
  check(b.finish(b.dense(b.concat({b.flatten(read), pooled, b.global_average_pool(both)}), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, DropoutAndSumOfAConcatenation) {
  Builder b;
  const Value x = b.conv2d(b.input({3, 4, 4}), kThree);
  const Value both = b.concat({x, b.relu(x)});
  const Value other = b.conv2d(x, {.filters = 10, .kernel = 1});
  const Value sum = b.add(b.dropout(both, {.rate = 0.3}), other);
  check(b.finish(b.dense(b.flatten(b.sigmoid(b.add(other, sum))), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, BatchNormReadByManyKinds) {
  Builder b;
  const Value x = b.relu(b.batch_norm(b.conv2d(b.input({3, 6, 6}), kThree)));
  const Value again = b.batch_norm(x);  // reads x in backward: x must be kept
  const Value convolved = b.conv2d(x, kThree);
  const Value dropped = b.dropout(x, {.rate = 0.4});
  const Value sum = b.add(b.add(again, convolved), dropped);
  check(b.finish(b.dense(b.flatten(b.tanh(sum)), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, ManyReadersOfOneValue) {
  Builder b;
  const Value x = b.conv2d(b.input({3, 6, 6}), kThree);
  const Value y = b.relu(b.batch_norm(x));
  const Value a = b.conv2d(y, kThree);
  const Value c = b.conv2d(y, kThree);
  const Value d = b.conv2d(y, kThree);
  const Value sum = b.relu(b.add(b.add(a, c), b.add(d, x)));
  check(b.finish(b.dense(b.flatten(sum), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, SharedGradientIsNotOverwrittenTooEarly) {
  // The sum hands one gradient buffer to a convolution that waits for its input to be computed again, and to a ReLU that masks in place.
  Builder b;
  const Value x = b.conv2d(b.input({3, 6, 6}), kThree);
  const Value waits = b.conv2d(b.relu(b.batch_norm(x)), kThree);
  const Value masked = b.relu(b.conv2d(x, kThree));
  check(b.finish(b.dense(b.flatten(b.add(waits, masked)), {.units = 3}), "mean_squared_error"));
}

TEST(FusedModels, TwoInputsOfDifferentKinds) {
  Builder b;
  const Value image = b.flatten(b.max_pool(b.relu(b.conv2d(b.input({2, 6, 6}), kThree)), {.kernel = 2}));
  const Value series = b.flatten(b.average_pool(b.tanh(b.conv1d(b.input({4, 12}), {.filters = 3, .kernel = 5})), {.kernel = 2}));
  const Value numbers = b.batch_norm(b.dense(b.input({6}), {.units = 5}));
  check(b.finish(b.softmax(b.dense(b.concat({image, series, numbers}), {.units = 4})), "mean_squared_error"));
}

TEST(FusedModels, SumOfAValueWithItself) {
  Builder b;
  const Value x = b.conv2d(b.input({3, 4, 4}), kThree);
  const Value y = b.batch_norm(x);
  check(b.finish(b.dense(b.flatten(b.add(y, y)), {.units = 2}), "mean_squared_error"));
}

}  // namespace
}  // namespace trireme::engine
