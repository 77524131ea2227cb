// SPDX-License-Identifier: Apache-2.0
// vgg16: thirteen convolutions and three dense layers for ImageNet, in torchvision's layout.
#include <fmt/format.h>

#include <array>

#include "trireme/graph/builder.h"
#include "trireme/graph/image_options.h"
#include "trireme/graph/model_entry.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  ImageOptions image{.channels = 3, .height = 224, .width = 224, .classes = 1000};
  double l2 = 0;
};

void describe(Options& o, OptionVisitor& visit) {
  describe(o.image, visit);
  visit("l2", o.l2, "adds l2 * sum(kernel^2) to the loss for each layer", 0, 1e6);
}

struct Stage {
  int convolutions = 2;
  std::int64_t filters = 64;
};

Graph build(const std::any& options) {
  static constexpr std::array<Stage, 5> kStages{{{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};
  const auto& o = std::any_cast<const Options&>(options);
  Builder b;
  Value x = b.input(o.image.shape());
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    b.scope(fmt::format("stage{}", stage + 1));
    for (int i = 0; i < kStages[stage].convolutions; ++i)
      x = b.relu(b.conv2d(x, {.filters = kStages[stage].filters, .padding = Padding::of(1), .l2 = o.l2, .init = "he_normal"}));
    x = b.max_pool(x, {.kernel = 2});
  }
  b.scope("");
  x = b.flatten(x);
  for (int i = 0; i < 2; ++i) x = b.dropout(b.relu(b.dense(x, {.units = 4096, .l2 = o.l2})), {.rate = 0.5});
  return b.finish(b.dense(x, {.units = o.image.classes, .l2 = o.l2}));
}

}  // namespace

ModelEntry vgg16() {
  return {.name = "vgg16",
          .summary = "ImageNet network of 16 plain layers, 138 M parameters",
          .options = options_type<Options>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
