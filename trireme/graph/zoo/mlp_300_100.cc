// SPDX-License-Identifier: Apache-2.0
// mlp_300_100: LeCun's classic two-layer perceptron for MNIST.
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/vector_options.h"

namespace trireme::graph::zoo {
namespace {

Graph build(const std::any& options) {
  const auto& o = std::any_cast<const VectorOptions&>(options);
  Builder b;
  Value x = b.input({o.inputs});
  x = b.relu(b.dense(x, {.units = 300}));
  x = b.relu(b.dense(x, {.units = 100}));
  return b.finish(b.dense(x, {.units = o.classes}));
}

}  // namespace

ModelEntry mlp_300_100() {
  return {.name = "mlp_300_100",
          .summary = "perceptron 784-300-100-10, 0.27 M parameters",
          .options = options_type<VectorOptions>(),
          .build = build};
}

}  // namespace trireme::graph::zoo
