// SPDX-License-Identifier: Apache-2.0
// mnist_cnn: the convolutional network of the Keras MNIST example.
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
  x = b.relu(b.conv2d(x, {.filters = 64}));
  x = b.dropout(b.max_pool(x, {.kernel = 2}), {.rate = 0.25});
  x = b.relu(b.dense(b.flatten(x), {.units = 128}));
  x = b.dropout(x, {.rate = 0.5});
  return b.finish(b.dense(x, {.units = image.classes}));
}

}  // namespace

ModelEntry mnist_cnn() {
  return {.name = "mnist_cnn",
          .summary = "two convolutions and two dense layers, 1.20 M parameters",
          .options = options_type<Options>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
