// SPDX-License-Identifier: Apache-2.0
// resnet: residual network of basic blocks for small images, as Keras's cifar10_resnet v1.
#include <fmt/format.h>

#include "trireme/graph/builder.h"
#include "trireme/graph/image_options.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/network_depth.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  std::int64_t depth = 20;
  ImageOptions image;
  double l2 = 1e-4;
  BatchNormOptions norm{.momentum = 0.9};
};

void describe(Options& o, OptionVisitor& visit) {
  visit("depth", o.depth, "layers, 6n + 2: 20, 32, 44, 50, 56, 110 ...", 8, 1202);
  describe(o.image, visit);
  visit("l2", o.l2, "adds l2 * sum(kernel^2) to the loss for each convolution", 0, 1e6);
  describe_momentum(o.norm, visit);
}

struct Block {
  std::int64_t filters = 16;
  std::int64_t stride = 1;
  bool projection = false;  // the shortcut changes its shape
};

ConvOptions convolution(const Options& o, std::int64_t filters, std::int64_t kernel, std::int64_t stride) {
  return {.filters = filters, .kernel = kernel, .stride = stride, .padding = Padding::same(), .l2 = o.l2, .init = "he_normal"};
}

Value basic_block(Builder& b, const Options& o, Value x, const Block& block) {
  Value y = b.relu(b.batch_norm(b.conv2d(x, convolution(o, block.filters, 3, block.stride)), o.norm));
  y = b.batch_norm(b.conv2d(y, convolution(o, block.filters, 3, 1)), o.norm);
  if (block.projection) x = b.conv2d(x, convolution(o, block.filters, 1, block.stride));
  return b.relu(b.add(x, y));
}

Graph build(const std::any& options) {
  const auto& o = std::any_cast<const Options&>(options);
  const std::int64_t blocks = blocks_of_depth("resnet", o.depth, 6, 2);
  Builder b;
  Value x = b.relu(b.batch_norm(b.conv2d(b.input(o.image.shape()), convolution(o, 16, 3, 1)), o.norm));
  for (std::int64_t stage = 0; stage < 3; ++stage) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      b.scope(fmt::format("stage{}/block{}", stage + 1, block + 1));
      const bool shrinks = stage > 0 && block == 0;
      x = basic_block(b, o, x, {.filters = 16 << stage, .stride = shrinks ? 2 : 1, .projection = shrinks});
    }
  }
  b.scope("");
  return b.finish(b.dense(b.global_average_pool(x), {.units = o.image.classes, .init = "he_normal"}));
}

}  // namespace

ModelEntry resnet() {
  return {.name = "resnet",
          .summary = "residual network v1 for small images, depth 6n + 2; depth 20 has 0.27 M parameters",
          .options = options_type<Options>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
