// SPDX-License-Identifier: Apache-2.0
// add: the sum of tensors; left to a following batch-norm's first pass where there is one.
#include <algorithm>

#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

class Add final : public Lowered {
 public:
  Add(const Group& group, const graph::Node& node) : group_(group), node_(node) {}

  void forward(Lowering& lowering) override {
    find_operands(lowering);
    const Tensor first = lowering.tensor(operands_.front());
    y_ = lowering.new_tensor(node_.name, node_.shape, first.layout, first.segments);
    lowering.tensor(y_).needs_gradient =
        std::any_of(operands_.begin(), operands_.end(), [&](TensorId x) { return lowering.needs_gradient(x); });
    const auto& readers = lowering.consumers(group_.last);
    const bool normalized =
        lowering.training() && first.layout == Layout::blocked &&
        std::any_of(readers.begin(), readers.end(), [&](graph::NodeId reader) { return lowering.node(reader).op->name == "batch_norm"; });
    if (normalized && operands_.size() == 2) {
      lowering.tensor(y_).pending.sum = {operands_[0], operands_[1]};
    } else {
      std::vector<BufferId> terms;
      for (const TensorId x : operands_) terms.push_back(lowering.tensor(x).buffer);
      lowering.emit_sum(node_.name, lowering.floats(y_), terms, lowering.tensor(y_).buffer);
    }
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    const auto gradient = lowering.gradient(y_);
    if (!gradient) return;
    for (const TensorId x : operands_) {
      if (lowering.needs_gradient(x)) lowering.gradients().add_term(x, *gradient);
    }
  }

 private:
  // All in the layout of the first.
  void find_operands(Lowering& lowering) {
    const Tensor first = lowering.tensor(lowering.value(node_.inputs[0]));
    for (const graph::NodeId input : node_.inputs)
      operands_.push_back(first.layout == Layout::plain ? lowering.plain(input) : lowering.blocked(input, first.segments));
  }

  Group group_;
  const graph::Node& node_;
  std::vector<TensorId> operands_;
  TensorId y_ = 0;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) { return std::make_unique<Add>(group, lowering.node(group.leader)); }

}  // namespace

OpEntry add() { return {.name = "add", .lower = lower}; }

}  // namespace trireme::engine::ops
