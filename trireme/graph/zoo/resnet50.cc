// SPDX-License-Identifier: Apache-2.0
// resnet50: the ImageNet network, in torchvision's layout (the stride is on the 3x3 convolution).
#include <fmt/format.h>

#include <array>

#include "trireme/graph/builder.h"
#include "trireme/graph/image_options.h"
#include "trireme/graph/model_entry.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  ImageOptions image{.channels = 3, .height = 224, .width = 224, .classes = 1000};
  double l2 = 1e-4;
  BatchNormOptions norm{.epsilon = 1e-5, .momentum = 0.9};
};

void describe(Options& o, OptionVisitor& visit) {
  describe(o.image, visit);
  visit("l2", o.l2, "adds l2 * sum(kernel^2) to the loss for each convolution", 0, 1e6);
  describe_momentum(o.norm, visit);
}

struct Bottleneck {
  std::int64_t middle = 64;
  std::int64_t stride = 1;
  bool projection = false;  // the shortcut changes its shape
};

// Convolution without bias, then batch-norm; padding keeps the extent at stride 1.
Value normalised(Builder& b, const Options& o, Value x, ConvOptions convolution) {
  convolution.padding = Padding::of(convolution.kernel / 2);
  convolution.bias = false;
  convolution.l2 = o.l2;
  convolution.init = "he_normal";
  return b.batch_norm(b.conv2d(x, std::move(convolution)), o.norm);
}

Value bottleneck(Builder& b, const Options& o, Value x, const Bottleneck& block) {
  const std::int64_t out = 4 * block.middle;
  Value y = b.relu(normalised(b, o, x, {.filters = block.middle, .kernel = 1}));
  y = b.relu(normalised(b, o, y, {.filters = block.middle, .kernel = 3, .stride = block.stride}));
  y = normalised(b, o, y, {.filters = out, .kernel = 1});
  if (block.projection) x = normalised(b, o, x, {.filters = out, .kernel = 1, .stride = block.stride});
  return b.relu(b.add(x, y));
}

Graph build(const std::any& options) {
  static constexpr std::array<int, 4> kBlocks{3, 4, 6, 3};
  const auto& o = std::any_cast<const Options&>(options);
  Builder b;
  Value x = b.relu(normalised(b, o, b.input(o.image.shape()), {.filters = 64, .kernel = 7, .stride = 2}));
  x = b.max_pool(x, {.kernel = 3, .stride = 2, .padding = Padding::of(1)});
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    for (int block = 0; block < kBlocks[stage]; ++block) {
      b.scope(fmt::format("stage{}/block{}", stage + 1, block + 1));
      const bool first = block == 0;
      x = bottleneck(b, o, x, {.middle = 64 << stage, .stride = first && stage > 0 ? 2 : 1, .projection = first});
    }
  }
  b.scope("");
  return b.finish(b.dense(b.global_average_pool(x), {.units = o.image.classes}));
}

}  // namespace

ModelEntry resnet50() {
  return {.name = "resnet50",
          .summary = "ImageNet residual network of 50 layers, 25.6 M parameters",
          .options = options_type<Options>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
