// SPDX-License-Identifier: Apache-2.0
// What every image classifier of the zoo can be configured with: the size of its images and the number of classes.
#pragma once

#include <cstdint>

#include "trireme/base/options.h"
#include "trireme/tensor/shape.h"

namespace trireme::graph {

struct ImageOptions {
  std::int64_t channels = 3;
  std::int64_t height = 32;
  std::int64_t width = 32;
  std::int64_t classes = 10;

  Shape shape() const { return {channels, height, width}; }
};
void describe(ImageOptions& o, OptionVisitor& visit);

}  // namespace trireme::graph
