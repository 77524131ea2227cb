// SPDX-License-Identifier: Apache-2.0
// mlp_128: the perceptron of the first TensorFlow tutorial.
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  std::int64_t inputs = 784;
  std::int64_t classes = 10;
};

void describe(Options& o, OptionVisitor& visit) {
  visit("inputs", o.inputs, "values of a sample", 1, 1 << 28);
  visit("classes", o.classes, "classes to distinguish", 1, 1 << 24);
}

Graph build(const std::any& options) {
  const auto& o = std::any_cast<const Options&>(options);
  Builder b;
  Value x = b.input({o.inputs});
  x = b.relu(b.dense(x, {.units = 128}));
  return b.finish(b.dense(x, {.units = o.classes}));
}

}  // namespace

ModelEntry mlp_128() {
  return {.name = "mlp_128", .summary = "perceptron 784-128-10, 0.10 M parameters", .options = options_type<Options>(), .build = build};
}

}  // namespace trireme::graph::zoo
