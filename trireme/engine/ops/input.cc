// SPDX-License-Identifier: Apache-2.0
// input: brings the caller's samples into a buffer of the compiled batch size; samples that are not there are zero.
#include <algorithm>

#include "trireme/base/parallel.h"
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

class Input final : public Lowered {
 public:
  Input(const Group& group, const graph::Node& node) : group_(group), node_(node) {}

  void forward(Lowering& lowering) override {
    const TensorId x = lowering.new_tensor(node_.name, node_.shape, Layout::plain);
    lowering.tensor(x).needs_gradient = false;
    const auto& inputs = lowering.graph().inputs();
    const auto index = static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), group_.leader) - inputs.begin());
    lowering.emit({.name = node_.name,
                   .category = "input",
                   .uses = {lowering.tensor(x).buffer},
                   .bind = [=, buffer = lowering.tensor(x).buffer, sample = lowering.sample_floats(x),
                            batch = lowering.batch()](const Addresses& at) -> Run {
                     return [=, to = at.floats(buffer)](const Call& call) {
                       const float* from = call.batch->inputs[index].data();
                       const std::int64_t there = call.batch->size * sample;
                       parallel_ranges(there, 1 << 14,
                                       [&](std::int64_t begin, std::int64_t end) { std::copy(from + begin, from + end, to + begin); });
                       std::fill(to + there, to + batch * sample, 0.0F);
                     };
                   }});
    lowering.set_value(group_.last, {x});
  }

  void backward(Lowering&) override {}

 private:
  Group group_;
  const graph::Node& node_;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<Input>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry input() { return {.name = "input", .lower = lower}; }

}  // namespace trireme::engine::ops
