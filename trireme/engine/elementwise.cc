// SPDX-License-Identifier: Apache-2.0
// Lowering of ReLU, sigmoid and tanh that could not be fused.
#include "trireme/engine/elementwise.h"

#include "trireme/engine/kernels/operations.h"
#include "trireme/engine/lowering.h"

namespace trireme::engine {
namespace {

class Elementwise final : public Lowered {
 public:
  Elementwise(const Group& group, const graph::Node& node, dnnl::algorithm algorithm) : group_(group), node_(node), algorithm_(algorithm) {}

  void forward(Lowering& lowering) override {
    x_ = lowering.value(node_.inputs[0]);
    lowering.complete(x_);
    y_ = lowering.new_tensor(node_.name, node_.shape, lowering.tensor(x_).layout, lowering.tensor(x_).segments);
    lowering.tensor(y_).overwritable = algorithm_ == dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    const auto layout = lowering.layout(y_);
    const auto forward = elementwise_forward(lowering.device(), algorithm_, layout);
    lowering.emit_primitive(node_.name + " forward", "elementwise", dnnl::eltwise_forward(forward),
                            {{DNNL_ARG_SRC, layout, lowering.tensor(x_).buffer}, {DNNL_ARG_DST, layout, lowering.tensor(y_).buffer}});
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    if (!lowering.needs_gradient(x_) || !lowering.gradient(y_)) return;
    if (algorithm_ == dnnl::algorithm::eltwise_relu_use_dst_for_bwd) return lowering.gradients().add_term(x_, lowering.relu_gradient(y_));
    const BufferId gradient = lowering.own_gradient(y_);
    const auto layout = lowering.layout(y_);
    const auto backward = elementwise_backward(lowering.device(), algorithm_, layout);
    lowering.emit_primitive(
        node_.name + " backward", "elementwise", dnnl::eltwise_backward(backward),
        {{DNNL_ARG_DST, layout, lowering.tensor(y_).buffer}, {DNNL_ARG_DIFF_DST, layout, gradient}, {DNNL_ARG_DIFF_SRC, layout, gradient}});
    lowering.gradients().add_term(x_, gradient);
  }

 private:
  Group group_;
  const graph::Node& node_;
  dnnl::algorithm algorithm_;
  TensorId x_ = 0;
  TensorId y_ = 0;
};

}  // namespace

std::unique_ptr<Lowered> lower_elementwise(const Group& group, const graph::Graph& graph, dnnl::algorithm algorithm) {
  return std::make_unique<Elementwise>(group, graph.node(group.leader), algorithm);
}

}  // namespace trireme::engine
