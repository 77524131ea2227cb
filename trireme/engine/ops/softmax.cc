// SPDX-License-Identifier: Apache-2.0
// softmax over the values of a vector, on oneDNN.
#include "trireme/engine/kernels/operations.h"
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

class Softmax final : public Lowered {
 public:
  Softmax(const Group& group, const graph::Node& node) : group_(group), node_(node) {}

  void forward(Lowering& lowering) override {
    x_ = lowering.plain(node_.inputs[0]);
    y_ = lowering.new_tensor(node_.name, node_.shape, Layout::plain);
    lowering.tensor(y_).overwritable = false;
    const auto layout = lowering.layout(y_);
    const auto softmax = softmax_forward(lowering.device(), layout);
    lowering.emit_primitive(node_.name + " forward", "softmax", dnnl::softmax_forward(softmax),
                            {{DNNL_ARG_SRC, layout, lowering.tensor(x_).buffer},
                             {DNNL_ARG_DST, layout, lowering.tensor(y_).buffer},
                             scratchpad(lowering, softmax.scratchpad_desc())});
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    if (!lowering.needs_gradient(x_) || !lowering.gradient(y_)) return;
    const BufferId gradient = *lowering.gradient(y_);
    const BufferId into = lowering.new_like(x_);
    const auto layout = lowering.layout(y_);
    const auto softmax = softmax_backward(lowering.device(), layout);
    lowering.emit_primitive(node_.name + " backward", "softmax", dnnl::softmax_backward(softmax),
                            {{DNNL_ARG_DST, layout, lowering.tensor(y_).buffer},
                             {DNNL_ARG_DIFF_DST, layout, gradient},
                             {DNNL_ARG_DIFF_SRC, layout, into},
                             scratchpad(lowering, softmax.scratchpad_desc())});
    lowering.gradients().add_term(x_, into);
  }

 private:
  static Argument scratchpad(Lowering& lowering, const dnnl::memory::desc& layout) {
    return {DNNL_ARG_SCRATCHPAD, layout, lowering.scratch(layout.get_size())};
  }

  Group group_;
  const graph::Node& node_;
  TensorId x_ = 0;
  TensorId y_ = 0;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<Softmax>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry softmax() { return {.name = "softmax", .lower = lower}; }

}  // namespace trireme::engine::ops
