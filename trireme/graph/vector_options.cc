// SPDX-License-Identifier: Apache-2.0
// Length and classes, with their limits.
#include "trireme/graph/vector_options.h"

namespace trireme::graph {

void describe(VectorOptions& o, OptionVisitor& visit) {
  visit("inputs", o.inputs, "values of a sample", 1, 1 << 28);
  visit("classes", o.classes, "classes to tell apart", 1, 1 << 24);
}

}  // namespace trireme::graph
