// SPDX-License-Identifier: Apache-2.0
// dense: y = x * kernel^T + bias, by oneDNN's inner product on plain vectors.
#include <fmt/format.h>

#include "trireme/engine/candidates.h"
#include "trireme/engine/lowering.h"
#include "trireme/engine/weights.h"
#include "trireme/graph/op_options.h"

namespace trireme::engine::ops {
namespace {

class Dense final : public Lowered {
 public:
  Dense(const Group& group, const graph::Node& node) : group_(group), node_(node), bias_(node.options_as<graph::DenseOptions>().bias) {}

  void forward(Lowering& lowering) override {
    x_ = lowering.plain(node_.inputs[0]);
    y_ = lowering.new_tensor(node_.name, node_.shape, Layout::plain);
    kernel_ = kernel_shape(lowering, {node_.shape[0], lowering.tensor(x_).channels()}, x_);
    const dnnl::primitive_attr attributes = group_.relu ? followed_by_relu() : user_scratchpad();
    Question question =
        ask(lowering, "forward", {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD}, DNNL_ARG_WEIGHTS);
    for (const auto& [label, weights] : weight_layouts())
      add_candidates(question.candidates, label, product_forward(lowering.device(), product(lowering, weights), attributes));
    const Candidate choice = lowering.chooser().choose(question);
    const Argument weights = kernel_argument(lowering, node_.parameters[0], kernel_, layout_of(choice.primitive, DNNL_ARG_WEIGHTS));
    lowering.emit_primitive(node_.name + " forward", "dense", dnnl::primitive(choice.primitive.get()),
                            {{DNNL_ARG_SRC, lowering.layout(x_), lowering.tensor(x_).buffer},
                             weights,
                             bias(lowering, DNNL_ARG_BIAS, ModelMemory::Space::parameters),
                             {DNNL_ARG_DST, lowering.layout(y_), lowering.tensor(y_).buffer},
                             scratchpad(lowering, choice)});
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    if (!lowering.gradient(y_)) return;
    const BufferId gradient = group_.relu ? lowering.relu_gradient(y_) : *lowering.gradient(y_);
    // Reads the kernel, which may change once its gradient is ready.
    if (lowering.needs_gradient(x_)) emit_backward_data(lowering, gradient);
    lowering.with_activation(x_, gradient,
                             [this, &lowering, gradient](BufferId activation) { emit_backward_weights(lowering, gradient, activation); });
  }

 private:
  using Layouts = std::vector<std::pair<const char*, dnnl::memory::desc>>;
  Layouts weight_layouts() const { return {{"plain", plain_layout(kernel_.seen())}, {"any", any_layout(kernel_.seen())}}; }
  dnnl::memory::desc bias_layout() const { return bias_ ? plain_layout({node_.shape[0]}) : dnnl::memory::desc(); }

  Question ask(Lowering& lowering, std::string_view direction, std::vector<int> arguments, int weights) const {
    return {.key = fmt::format("dense {} {}x{} to {} bias {} relu {} threads {}", direction, lowering.batch(), kernel_.canonical[1],
                               kernel_.canonical[0], bias_, group_.relu, lowering.threads()),
            .arguments = std::move(arguments),
            .weights = weights,
            .canonical = plain_layout(kernel_.seen())};
  }

  ProductShape product(const Lowering& lowering, const dnnl::memory::desc& weights) const {
    return {.source = lowering.layout(x_), .weights = weights, .bias = bias_layout(), .target = lowering.layout(y_)};
  }

  Argument bias(Lowering& lowering, int kind, ModelMemory::Space space) const {
    if (!bias_) return {};
    return {kind, bias_layout(), ModelMemory{space, lowering.graph().parameters()[node_.parameters[1]].offset}};
  }

  static Argument scratchpad(Lowering& lowering, const Candidate& choice) {
    const auto layout = layout_of(choice.primitive, DNNL_ARG_SCRATCHPAD);
    return {DNNL_ARG_SCRATCHPAD, layout, lowering.scratch(layout.get_size())};
  }

  void emit_backward_data(Lowering& lowering, BufferId gradient) {
    Question question =
        ask(lowering, "backward data", {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC, DNNL_ARG_SCRATCHPAD}, DNNL_ARG_WEIGHTS);
    for (const auto& [label, weights] : weight_layouts())
      add_candidates(question.candidates, label, product_backward_data(lowering.device(), product(lowering, weights)));
    const Candidate choice = lowering.chooser().choose(question);
    const Argument weights = kernel_argument(lowering, node_.parameters[0], kernel_, layout_of(choice.primitive, DNNL_ARG_WEIGHTS));
    const BufferId into = lowering.new_like(x_);
    lowering.emit_primitive(node_.name + " backward data", "dense", dnnl::primitive(choice.primitive.get()),
                            {{DNNL_ARG_DIFF_DST, lowering.layout(y_), gradient},
                             weights,
                             {DNNL_ARG_DIFF_SRC, lowering.layout(x_), into},
                             scratchpad(lowering, choice)});
    lowering.gradients().add_term(x_, into);
  }

  void emit_backward_weights(Lowering& lowering, BufferId gradient, BufferId activation) {
    Question question =
        ask(lowering, "backward weights", {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS, DNNL_ARG_SCRATCHPAD},
            DNNL_ARG_DIFF_WEIGHTS);
    for (const auto& [label, weights] : weight_layouts())
      add_candidates(question.candidates, label, product_backward_weights(lowering.device(), product(lowering, weights)));
    const Candidate choice = lowering.chooser().choose(question);
    const KernelGradient kernel =
        kernel_gradient(lowering, node_.parameters[0], kernel_, layout_of(choice.primitive, DNNL_ARG_DIFF_WEIGHTS));
    Step step = lowering.primitive_step(node_.name + " backward weights", "dense", dnnl::primitive(choice.primitive.get()),
                                        {{DNNL_ARG_SRC, lowering.layout(x_), activation},
                                         {DNNL_ARG_DIFF_DST, lowering.layout(y_), gradient},
                                         kernel.argument,
                                         bias(lowering, DNNL_ARG_DIFF_BIAS, ModelMemory::Space::gradients),
                                         scratchpad(lowering, choice)});
    if (kernel.in_place) step.ready = node_.parameters;
    lowering.emit(std::move(step));
    if (!kernel.in_place) emit_kernel_gradient(lowering, node_.parameters[0], kernel_, kernel.argument, node_.parameters);
  }

  Group group_;
  const graph::Node& node_;
  bool bias_;
  TensorId x_ = 0;
  TensorId y_ = 0;
  KernelShape kernel_;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<Dense>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry dense() { return {.name = "dense", .fuses_relu = true, .lower = lower}; }

}  // namespace trireme::engine::ops
