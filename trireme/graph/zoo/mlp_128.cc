// SPDX-License-Identifier: Apache-2.0
// mlp_128: the perceptron of the first TensorFlow tutorial.
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/vector_options.h"

namespace trireme::graph::zoo {
namespace {

Graph build(const std::any& options) {
  const auto& o = std::any_cast<const VectorOptions&>(options);
  Builder b;
  Value x = b.input({o.inputs});
  x = b.relu(b.dense(x, {.units = 128}));
  return b.finish(b.dense(x, {.units = o.classes}));
}

}  // namespace

ModelEntry mlp_128() {
  return {
      .name = "mlp_128", .summary = "perceptron 784-128-10, 0.10 M parameters", .options = options_type<VectorOptions>(), .build = build};
}

}  // namespace trireme::graph::zoo
