// SPDX-License-Identifier: Apache-2.0
// dropout by counter-based masks, computed again in backward; in place where its input has no other reader.
#include <cmath>

#include "trireme/engine/lowering.h"
#include "trireme/graph/op_options.h"

namespace trireme::engine::ops {
namespace {

class Dropout final : public Lowered {
 public:
  Dropout(const Group& group, const graph::Node& node) : group_(group), node_(node), rate_(node.options_as<graph::DropoutOptions>().rate) {}

  void forward(Lowering& lowering) override {
    const graph::NodeId input = node_.inputs[0];
    x_ = y_ = lowering.value(input);
    if (!lowering.training() || rate_ == 0) return lowering.set_value(group_.last, {y_});
    // Masks are defined on channels without holes between them.
    const bool holes = lowering.tensor(x_).segments.size() > 1;
    if (holes) x_ = y_ = lowering.plain(input);
    const Tensor source = lowering.tensor(x_);
    const bool in_place = !holes && lowering.consumers(input).size() == 1 && source.overwritable && source.needs_gradient &&
                          !source.pending.dropout && !source.dropout;
    if (!in_place) {
      lowering.complete(x_);
      y_ = lowering.new_tensor(node_.name, node_.shape, source.layout, source.segments);
      lowering.tensor(y_).needs_gradient = source.needs_gradient;
      lowering.emit_sum(node_.name, lowering.floats(y_), {source.buffer}, lowering.tensor(y_).buffer);
    }
    Tensor& y = lowering.tensor(y_);
    const DropoutSpec spec{.keys = lowering.dropout_keys(node_.name),
                           .threshold = static_cast<std::uint32_t>(rate_ * 0x1p32),
                           .scale = static_cast<float>(1 / (1 - rate_))};
    y.dropout = y.pending.dropout = spec;
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    Tensor& y = lowering.tensor(y_);
    if (!y.needs_gradient || lowering.gradients().terms(y_).empty()) return;
    if (y.dropout) {  // it was not applied to the gradient yet
      lowering.emit_dropout(node_.name + " backward", y_, *y.dropout, lowering.own_gradient(y_));
      y.dropout.reset();
    }
    if (x_ != y_) lowering.gradients().add_term(x_, *lowering.gradient(y_));
  }

 private:
  Group group_;
  const graph::Node& node_;
  double rate_;
  TensorId x_ = 0;
  TensorId y_ = 0;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<Dropout>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry dropout() { return {.name = "dropout", .backward_reads_input = true, .lower = lower}; }

}  // namespace trireme::engine::ops
