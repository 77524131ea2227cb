// SPDX-License-Identifier: Apache-2.0
// densenet: densely connected network with bottlenecks and compression (DenseNet-BC) for small images.
#include <fmt/format.h>

#include "trireme/graph/builder.h"
#include "trireme/graph/image_options.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/network_depth.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  std::int64_t depth = 40;
  std::int64_t growth = 12;
  double reduction = 0.5;
  double dropout = 0.1;
  ImageOptions image{.channels = 1, .height = 28, .width = 28};
  double l2 = 1e-4;
  BatchNormOptions norm{.momentum = 0.9};
};

void describe(Options& o, OptionVisitor& visit) {
  visit("depth", o.depth, "layers, 6n + 4: 40, 100, 190 ...", 10, 1204);
  visit("growth", o.growth, "channels that each layer adds", 1, 4096);
  visit("reduction", o.reduction, "share of the channels that pass a transition", 0.01, 1);
  visit("dropout", o.dropout, "share of values dropped after each convolution but the first", 0, 0.999);
  describe(o.image, visit);
  visit("l2", o.l2, "adds l2 * sum(kernel^2) to the loss for each convolution", 0, 1e6);
  describe_momentum(o.norm, visit);
}

ConvOptions convolution(const Options& o, std::int64_t filters, std::int64_t kernel) {
  return {.filters = filters, .kernel = kernel, .padding = Padding::same(), .bias = false, .l2 = o.l2, .init = "he_normal"};
}

Value activated(Builder& b, const Options& o, Value x) { return b.relu(b.batch_norm(x, o.norm)); }

Value dense_layer(Builder& b, const Options& o, Value x) {
  Value y = b.conv2d(activated(b, o, x), convolution(o, 4 * o.growth, 1));
  y = b.dropout(y, {.rate = o.dropout});
  y = b.conv2d(activated(b, o, y), convolution(o, o.growth, 3));
  return b.concat({x, b.dropout(y, {.rate = o.dropout})});
}

Value transition(Builder& b, const Options& o, Value x) {
  const auto kept = static_cast<std::int64_t>(static_cast<double>(b.shape(x)[0]) * o.reduction);
  const Value y = b.conv2d(activated(b, o, x), convolution(o, kept, 1));
  return b.average_pool(b.dropout(y, {.rate = o.dropout}), {.kernel = 2});
}

Graph build(const std::any& options) {
  const auto& o = std::any_cast<const Options&>(options);
  const std::int64_t layers = blocks_of_depth("densenet", o.depth, 6, 4);
  Builder b;
  Value x = b.conv2d(b.input(o.image.shape()), convolution(o, 2 * o.growth, 3));
  for (int block = 1; block <= 3; ++block) {
    for (std::int64_t layer = 1; layer <= layers; ++layer) {
      b.scope(fmt::format("block{}/layer{}", block, layer));
      x = dense_layer(b, o, x);
    }
    b.scope(fmt::format("transition{}", block));
    if (block < 3) x = transition(b, o, x);
  }
  b.scope("");
  return b.finish(b.dense(b.global_average_pool(activated(b, o, x)), {.units = o.image.classes, .init = "he_normal"}));
}

}  // namespace

ModelEntry densenet() {
  return {.name = "densenet",
          .summary = "DenseNet-BC for small images, depth 6n + 4; 40 layers of growth 12 have 0.18 M parameters",
          .options = options_type<Options>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
