// SPDX-License-Identifier: Apache-2.0
// scale by oneDNN's linear function; the gradient passes through the same one, without the offset.
#include "trireme/engine/kernels/operations.h"
#include "trireme/engine/lowering.h"
#include "trireme/graph/scale_options.h"

namespace trireme::engine::ops {
namespace {

class Scale final : public Lowered {
 public:
  Scale(const Group& group, const graph::Node& node) : group_(group), node_(node) {}

  void forward(Lowering& lowering) override {
    x_ = lowering.value(node_.inputs[0]);
    lowering.complete(x_);
    y_ = lowering.new_tensor(node_.name, node_.shape, lowering.tensor(x_).layout, lowering.tensor(x_).segments);
    const auto& options = node_.options_as<graph::ScaleOptions>();
    emit(lowering, " forward", lowering.tensor(x_).buffer, lowering.tensor(y_).buffer, static_cast<float>(options.offset));
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    if (!lowering.needs_gradient(x_) || !lowering.gradient(y_)) return;
    const BufferId gradient = lowering.own_gradient(y_);
    emit(lowering, " backward", gradient, gradient, 0);
    lowering.gradients().add_term(x_, gradient);
  }

 private:
  void emit(Lowering& lowering, const char* direction, BufferId from, BufferId to, float offset) {
    const auto layout = lowering.layout(y_);
    const auto factor = static_cast<float>(node_.options_as<graph::ScaleOptions>().factor);
    const auto linear = elementwise_forward(lowering.device(), dnnl::algorithm::eltwise_linear, layout, factor, offset);
    lowering.emit_primitive(node_.name + direction, "elementwise", dnnl::eltwise_forward(linear),
                            {{DNNL_ARG_SRC, layout, from}, {DNNL_ARG_DST, layout, to}});
  }

  Group group_;
  const graph::Node& node_;
  TensorId x_ = 0;
  TensorId y_ = 0;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<Scale>(group, lowering.graph().node(group.leader));
}

}  // namespace

OpEntry scale() { return {.name = "scale", .lower = lower}; }

}  // namespace trireme::engine::ops
