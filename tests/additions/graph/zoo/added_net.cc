// SPDX-License-Identifier: Apache-2.0
// added_net: a model that is added from outside; one of its layers is the op that is, too.
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"

namespace trireme::graph::zoo {
namespace {

struct Options {
  std::int64_t units = 8;
};

void describe(Options& o, OptionVisitor& visit) { visit("units", o.units, "of the hidden layer", 1, 1 << 10); }

Graph build(const std::any& options) {
  Builder b;
  const Value hidden = b.tanh(b.dense(b.input({4}), {.units = std::any_cast<const Options&>(options).units}));
  return b.finish(b.dense(b.apply("exp", find_op("exp").options.defaults(), {hidden}), {.units = 2}));
}

}  // namespace

ModelEntry added_net() {
  return {.name = "added_net", .summary = "a perceptron 4-8-2 with an exponential", .options = options_type<Options>(), .build = build};
}

}  // namespace trireme::graph::zoo
