// SPDX-License-Identifier: Apache-2.0
// The description of the image classifiers' common options.
#include "trireme/graph/image_options.h"

namespace trireme::graph {

void describe(ImageOptions& o, OptionVisitor& visit) {
  visit("channels", o.channels, "channels of an image", 1, 4096);
  visit("height", o.height, "rows of an image", 1, 1 << 16);
  visit("width", o.width, "columns of an image", 1, 1 << 16);
  visit("classes", o.classes, "classes to distinguish", 1, 1 << 24);
}

}  // namespace trireme::graph
