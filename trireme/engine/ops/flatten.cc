// SPDX-License-Identifier: Apache-2.0
// flatten: the plain tensor read as a vector.
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

class Flatten final : public Lowered {
 public:
  Flatten(const Group& group, const graph::Node& node) : group_(group), node_(node) {}

  void forward(Lowering& lowering) override {
    x_ = lowering.plain(node_.inputs[0]);
    y_ = lowering.new_view(x_, node_.name, node_.shape);
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    const auto gradient = lowering.gradient(y_);
    if (!gradient || !lowering.needs_gradient(x_)) return;
    lowering.gradients().add_term(x_, *gradient);
    // x_ may be a plain copy of a blocked value: its gradient goes on from here.
  }

 private:
  Group group_;
  const graph::Node& node_;
  TensorId x_ = 0;
  TensorId y_ = 0;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<Flatten>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry flatten() { return {.name = "flatten", .lower = lower}; }

}  // namespace trireme::engine::ops
