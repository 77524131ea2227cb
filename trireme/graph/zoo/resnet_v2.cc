// SPDX-License-Identifier: Apache-2.0
// resnet_v2: residual network of pre-activated bottlenecks for small images, as Keras's cifar10_resnet v2.
#include <fmt/format.h>

#include <array>

#include "trireme/graph/builder.h"
#include "trireme/graph/image_options.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/network_depth.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  std::int64_t depth = 56;
  ImageOptions image;
  double l2 = 1e-4;
  BatchNormOptions norm{.momentum = 0.9};
};

void describe(Options& o, OptionVisitor& visit) {
  visit("depth", o.depth, "layers, 9n + 2: 20, 29, 47, 56, 110 ...", 11, 1802);
  describe(o.image, visit);
  visit("l2", o.l2, "adds l2 * sum(kernel^2) to the loss for each convolution", 0, 1e6);
  describe_momentum(o.norm, visit);
}

struct Bottleneck {
  std::int64_t middle = 16;
  std::int64_t out = 64;
  std::int64_t stride = 1;
  bool first_of_net = false;  // its input is normalised and rectified already
  bool projection = false;    // the shortcut changes its shape
};

ConvOptions convolution(const Options& o, std::int64_t filters, std::int64_t kernel, std::int64_t stride = 1) {
  return {.filters = filters, .kernel = kernel, .stride = stride, .padding = Padding::same(), .l2 = o.l2, .init = "he_normal"};
}

Value activated(Builder& b, const Options& o, Value x) { return b.relu(b.batch_norm(x, o.norm)); }

Value bottleneck(Builder& b, const Options& o, Value x, const Bottleneck& block) {
  Value y = b.conv2d(block.first_of_net ? x : activated(b, o, x), convolution(o, block.middle, 1, block.stride));
  y = b.conv2d(activated(b, o, y), convolution(o, block.middle, 3));
  y = b.conv2d(activated(b, o, y), convolution(o, block.out, 1));
  if (block.projection) x = b.conv2d(x, convolution(o, block.out, 1, block.stride));
  return b.add(x, y);
}

Graph build(const std::any& options) {
  static constexpr std::array<std::int64_t, 3> kMiddle{16, 64, 128};
  static constexpr std::array<std::int64_t, 3> kOut{64, 128, 256};
  const auto& o = std::any_cast<const Options&>(options);
  const std::int64_t blocks = blocks_of_depth("resnet_v2", o.depth, 9, 2);
  Builder b;
  Value x = activated(b, o, b.conv2d(b.input(o.image.shape()), convolution(o, 16, 3)));
  for (std::size_t stage = 0; stage < 3; ++stage) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      b.scope(fmt::format("stage{}/block{}", stage + 1, block + 1));
      const bool first = block == 0;
      x = bottleneck(b, o, x,
                     {.middle = kMiddle[stage],
                      .out = kOut[stage],
                      .stride = first && stage > 0 ? 2 : 1,
                      .first_of_net = first && stage == 0,
                      .projection = first});
    }
  }
  b.scope("");
  return b.finish(b.dense(b.global_average_pool(activated(b, o, x)), {.units = o.image.classes, .init = "he_normal"}));
}

}  // namespace

ModelEntry resnet_v2() {
  return {.name = "resnet_v2",
          .summary = "residual network v2 for small images, depth 9n + 2; depth 56 has 1.66 M parameters",
          .options = options_type<Options>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
