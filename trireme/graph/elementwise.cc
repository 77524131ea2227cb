// SPDX-License-Identifier: Apache-2.0
// Shapes and examples of element-wise ops.
#include "trireme/graph/elementwise.h"

namespace trireme::graph {

Definition same_shape(const std::any&, std::span<const Shape> inputs) { return {.shape = inputs[0]}; }

std::vector<Example> elementwise_examples() {
  return {
      {NoOptions{}, {{7}}}, {NoOptions{}, {{3, 5}}}, {NoOptions{}, {{5, 4, 3}}}, {NoOptions{}, {{17, 3, 2}}}, {NoOptions{}, {{32, 4, 4}}}};
}

}  // namespace trireme::graph
