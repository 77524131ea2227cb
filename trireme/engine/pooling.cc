// SPDX-License-Identifier: Apache-2.0
// Lowering of pooling to oneDNN.
#include "trireme/engine/pooling.h"

#include <optional>

#include "trireme/engine/kernels/operations.h"
#include "trireme/engine/lowering.h"
#include "trireme/graph/op_options.h"
#include "trireme/graph/window.h"

namespace trireme::engine {
namespace {

class Pooling final : public Lowered {
 public:
  Pooling(const Group& group, const graph::Node& node, dnnl::algorithm algorithm) : group_(group), node_(node), algorithm_(algorithm) {}

  void forward(Lowering& lowering) override {
    x_ = lowering.blocked(node_.inputs[0]);
    y_ = lowering.new_tensor(node_.name, node_.shape, Layout::blocked, lowering.tensor(x_).segments);
    const auto pool = forward_primitive(lowering);
    const auto workspace = pool.workspace_desc();
    if (workspace.get_size() > 0) workspace_ = lowering.new_buffer(workspace.get_size());
    lowering.emit_primitive(node_.name + " forward", "pooling", dnnl::pooling_forward(pool),
                            {{DNNL_ARG_SRC, lowering.layout(x_), lowering.tensor(x_).buffer},
                             {DNNL_ARG_DST, lowering.layout(y_), lowering.tensor(y_).buffer},
                             {DNNL_ARG_WORKSPACE, workspace, workspace_},
                             scratchpad(lowering, pool.scratchpad_desc())});
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    if (!lowering.needs_gradient(x_) || !lowering.gradient(y_)) return;
    const BufferId gradient = mask_at_output(lowering) ? lowering.relu_gradient(y_) : *lowering.gradient(y_);
    const auto forward = forward_primitive(lowering);
    const auto pool = pooling_backward(lowering.device(), algorithm_, pooling_shape(lowering), forward);
    const BufferId into = lowering.new_like(x_);
    lowering.emit_primitive(node_.name + " backward", "pooling", dnnl::pooling_backward(pool),
                            {{DNNL_ARG_DIFF_DST, lowering.layout(y_), gradient},
                             {DNNL_ARG_DIFF_SRC, lowering.layout(x_), into},
                             {DNNL_ARG_WORKSPACE, forward.workspace_desc(), workspace_},
                             scratchpad(lowering, pool.scratchpad_desc())});
    lowering.gradients().add_term(x_, into);
  }

 private:
  // A maximum over a ReLU's outputs is positive where the chosen one is, so the mask can be applied here, where it is smaller.
  bool mask_at_output(Lowering& lowering) const {
    Tensor& x = lowering.tensor(x_);
    const bool only_reader = lowering.consumers(node_.inputs[0]).size() == 1 && lowering.value(node_.inputs[0]) == x_;
    if (algorithm_ != dnnl::algorithm::pooling_max || !only_reader || !x.overwritable || lowering.node(node_.inputs[0]).op->name != "relu")
      return false;
    x.gradient_masked = true;
    return true;
  }

  std::pair<graph::Window, graph::Window> windows(const Lowering& lowering) const {
    const auto& o = node_.options_as<graph::PoolOptions>();
    const std::int64_t stride = o.stride == 0 ? o.kernel : o.stride;
    const Tensor& x = lowering.tensor(x_);
    const graph::Window columns = graph::window_over(x.width(), o.kernel, stride, o.padding);
    if (x.shape.rank() == 2) return {graph::Window{.outputs = 1}, columns};
    return {graph::window_over(x.height(), o.kernel, stride, o.padding), columns};
  }

  PoolingShape pooling_shape(const Lowering& lowering) const {
    const auto [rows, columns] = windows(lowering);
    return {.source = lowering.layout(x_),
            .target = lowering.layout(y_),
            .strides = {rows.stride, columns.stride},
            .kernel = {rows.kernel, columns.kernel},
            .before = {rows.before, columns.before},
            .after = {rows.after, columns.after}};
  }

  dnnl::pooling_forward::primitive_desc forward_primitive(const Lowering& lowering) const {
    const auto kind = lowering.training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    return pooling_forward(lowering.device(), kind, algorithm_, pooling_shape(lowering));
  }

  static Argument scratchpad(Lowering& lowering, const dnnl::memory::desc& layout) {
    return {DNNL_ARG_SCRATCHPAD, layout, lowering.scratch(layout.get_size())};
  }

  Group group_;
  const graph::Node& node_;
  dnnl::algorithm algorithm_;
  TensorId x_ = 0;
  TensorId y_ = 0;
  BufferId workspace_ = 0;
};

}  // namespace

std::unique_ptr<Lowered> lower_pooling(const Group& group, const graph::Graph& graph, dnnl::algorithm algorithm) {
  return std::make_unique<Pooling>(group, graph.node(group.leader), algorithm);
}

}  // namespace trireme::engine
