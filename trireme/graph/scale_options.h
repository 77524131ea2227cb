// SPDX-License-Identifier: Apache-2.0
// The numbers of op `scale`, which the engine needs too.
#pragma once

#include "trireme/base/options.h"

namespace trireme::graph {

struct ScaleOptions {
  double factor = 1;
  double offset = 0;
};
void describe(ScaleOptions& o, OptionVisitor& visit);

}  // namespace trireme::graph
