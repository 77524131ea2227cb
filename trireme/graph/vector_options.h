// SPDX-License-Identifier: Apache-2.0
// What every perceptron of the zoo can be told: the length of its samples and the number of classes.
#pragma once

#include <cstdint>

#include "trireme/base/options.h"

namespace trireme::graph {

struct VectorOptions {
  std::int64_t inputs = 784;
  std::int64_t classes = 10;
};
void describe(VectorOptions& o, OptionVisitor& visit);

}  // namespace trireme::graph
