// SPDX-License-Identifier: Apache-2.0
// small_cnn: one convolution, for quick trials.
#include "trireme/graph/builder.h"
#include "trireme/graph/image_options.h"
#include "trireme/graph/model_entry.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  ImageOptions image{.channels = 1, .height = 28, .width = 28};
};

void describe(Options& o, OptionVisitor& visit) { describe(o.image, visit); }

Graph build(const std::any& options) {
  const ImageOptions& image = std::any_cast<const Options&>(options).image;
  Builder b;
  Value x = b.input(image.shape());
  x = b.relu(b.conv2d(x, {.filters = 32}));
  x = b.flatten(b.max_pool(x, {.kernel = 2}));
  x = b.relu(b.dense(x, {.units = 64}));
  return b.finish(b.dense(x, {.units = image.classes}));
}

}  // namespace

ModelEntry small_cnn() {
  return {.name = "small_cnn",
          .summary = "one convolution and two dense layers, 0.35 M parameters",
          .options = options_type<Options>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
