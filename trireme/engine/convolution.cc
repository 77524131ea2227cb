// SPDX-License-Identifier: Apache-2.0
// Lowering of convolutions.
#include "trireme/engine/convolution.h"

#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "trireme/engine/candidates.h"
#include "trireme/engine/lowering.h"
#include "trireme/engine/weights.h"
#include "trireme/graph/op_options.h"

namespace trireme::engine {
namespace {

using dnnl::algorithm;

constexpr std::pair<algorithm, const char*> kAlgorithms[] = {{algorithm::convolution_direct, "direct"},
                                                             {algorithm::convolution_winograd, "winograd"}};

class Convolution final : public Lowered {
 public:
  Convolution(const Group& group, const graph::Node& node, const graph::Window& rows, const graph::Window& columns)
      : group_(group), node_(node), rows_(rows), columns_(columns), bias_(node.options_as<graph::ConvOptions>().bias) {}

  void forward(Lowering& lowering) override;
  void backward(Lowering& lowering) override;

 private:
  // What is asked of oneDNN, the same for all three directions.
  struct Problem {
    dnnl::memory::dims strides, before, after;
    dnnl::memory::desc source, weights, bias, target;  // weights of any layout, no bias layout without bias
    dnnl::memory::desc canonical;
    std::string text;
  };

  TensorId input(Lowering& lowering) const;
  Problem problem(Lowering& lowering) const;
  Candidate choose_forward(Lowering& lowering, const Problem& p) const;
  Candidate choose_backward_data(Lowering& lowering, const Problem& p) const;
  Candidate choose_backward_weights(Lowering& lowering, const Problem& p) const;
  dnnl::convolution_forward::desc forward_operation(const Problem& p, algorithm choice) const;

  void emit_backward_data(Lowering& lowering, BufferId gradient);
  void emit_backward_weights(Lowering& lowering, BufferId gradient, BufferId activation);

  Argument bias_argument(const Lowering& lowering, const dnnl::memory::desc& layout, int kind, ModelMemory::Space space) const;
  static Argument scratchpad(Lowering& lowering, const Candidate& choice);

  Group group_;
  const graph::Node& node_;
  graph::Window rows_;
  graph::Window columns_;
  bool bias_;
  TensorId x_ = 0;
  TensorId y_ = 0;
  KernelShape kernel_;
};

// oneDNN's first-layer kernels read one or three plain channels; everything else is blocked.
TensorId Convolution::input(Lowering& lowering) const {
  const graph::NodeId source = node_.inputs[0];
  const std::int64_t channels = lowering.node(source).shape[0];
  const Tensor& given = lowering.tensor(lowering.value(source));
  if (given.layout == Layout::plain && (channels == 1 || channels == 3)) return lowering.plain(source);
  return lowering.blocked(source);
}

Convolution::Problem Convolution::problem(Lowering& lowering) const {
  Problem p{.strides = {rows_.stride, columns_.stride}, .before = {rows_.before, columns_.before}, .after = {rows_.after, columns_.after}};
  p.source = lowering.layout(x_);
  p.weights = any_layout(kernel_.seen());
  if (bias_) p.bias = plain_layout({node_.shape[0]});
  p.target = lowering.layout(y_);
  p.canonical = plain_layout(kernel_.seen());
  p.text = fmt::format("{} kernel {} stride {} pad {}+{} {} bias {} relu {} threads {}", fmt::join(p.source.dims(), "x"),
                       fmt::join(kernel_.seen(), "x"), fmt::join(p.strides, ","), fmt::join(p.before, ","), fmt::join(p.after, ","),
                       lowering.tensor(x_).layout == Layout::plain ? "plain" : "blocked", bias_, group_.relu, lowering.threads());
  return p;
}

dnnl::convolution_forward::desc Convolution::forward_operation(const Problem& p, algorithm choice) const {
  if (bias_) return {dnnl::prop_kind::forward_training, choice, p.source, p.weights, p.bias, p.target, p.strides, p.before, p.after};
  return {dnnl::prop_kind::forward_training, choice, p.source, p.weights, p.target, p.strides, p.before, p.after};
}

Candidate Convolution::choose_forward(Lowering& lowering, const Problem& p) const {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (group_.relu) {
    dnnl::post_ops after;
    after.append_eltwise(1.0F, algorithm::eltwise_relu, 0.0F, 0.0F);
    attributes.set_post_ops(after);
  }
  Question question{.key = "convolution forward " + p.text,
                    .arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD},
                    .weights = DNNL_ARG_WEIGHTS,
                    .canonical = p.canonical};
  for (const auto& [choice, label] : kAlgorithms) {
    const auto operation = forward_operation(p, choice);
    add_candidates(question.candidates, label, lowering.device(), &operation.data, attributes);
  }
  return lowering.chooser().choose(question);
}

Candidate Convolution::choose_backward_data(Lowering& lowering, const Problem& p) const {
  Question question{.key = "convolution backward data " + p.text,
                    .arguments = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC, DNNL_ARG_SCRATCHPAD},
                    .weights = DNNL_ARG_WEIGHTS,
                    .canonical = p.canonical};
  for (const auto& [choice, label] : kAlgorithms) {
    std::vector<Candidate> hints;  // oneDNN wants a forward primitive of the same algorithm as a hint
    const auto forward = forward_operation(p, choice);
    add_candidates(hints, "", lowering.device(), &forward.data, user_scratchpad());
    const dnnl::convolution_backward_data::desc operation(choice, p.source, p.weights, p.target, p.strides, p.before, p.after);
    if (!hints.empty())
      add_candidates(question.candidates, label, lowering.device(), &operation.data, user_scratchpad(), &hints.front().primitive);
  }
  return lowering.chooser().choose(question);
}

Candidate Convolution::choose_backward_weights(Lowering& lowering, const Problem& p) const {
  Question question{.key = "convolution backward weights " + p.text,
                    .arguments = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS, DNNL_ARG_SCRATCHPAD},
                    .weights = DNNL_ARG_DIFF_WEIGHTS,
                    .canonical = p.canonical};
  for (const auto& [choice, label] : kAlgorithms) {
    std::vector<Candidate> hints;
    const auto forward = forward_operation(p, choice);
    add_candidates(hints, "", lowering.device(), &forward.data, user_scratchpad());
    using Operation = dnnl::convolution_backward_weights::desc;
    const Operation operation = bias_ ? Operation(choice, p.source, p.weights, p.bias, p.target, p.strides, p.before, p.after)
                                      : Operation(choice, p.source, p.weights, p.target, p.strides, p.before, p.after);
    if (!hints.empty())
      add_candidates(question.candidates, label, lowering.device(), &operation.data, user_scratchpad(), &hints.front().primitive);
  }
  return lowering.chooser().choose(question);
}

Argument Convolution::bias_argument(const Lowering& lowering, const dnnl::memory::desc& layout, int kind, ModelMemory::Space space) const {
  if (!bias_) return {};
  return {kind, layout, ModelMemory{space, lowering.graph().parameters()[node_.parameters[1]].offset}};
}

Argument Convolution::scratchpad(Lowering& lowering, const Candidate& choice) {
  const auto layout = layout_of(choice.primitive, DNNL_ARG_SCRATCHPAD);
  return {DNNL_ARG_SCRATCHPAD, layout, lowering.scratch(layout.get_size())};
}

void Convolution::forward(Lowering& lowering) {
  x_ = input(lowering);
  y_ = lowering.new_tensor(node_.name, node_.shape, Layout::blocked);
  kernel_ = kernel_shape(lowering, {node_.shape[0], lowering.node(node_.inputs[0]).shape[0], rows_.kernel, columns_.kernel}, x_);
  const Problem p = problem(lowering);
  const Candidate choice = choose_forward(lowering, p);
  const Argument weights =
      kernel_argument(lowering, node_.name, node_.parameters[0], kernel_, layout_of(choice.primitive, DNNL_ARG_WEIGHTS));
  lowering.emit_primitive(node_.name + " forward", "convolution", dnnl::primitive(choice.primitive.get()),
                          {{DNNL_ARG_SRC, p.source, lowering.tensor(x_).buffer},
                           weights,
                           bias_argument(lowering, p.bias, DNNL_ARG_BIAS, ModelMemory::Space::parameters),
                           {DNNL_ARG_DST, p.target, lowering.tensor(y_).buffer},
                           scratchpad(lowering, choice)});
  lowering.set_value(group_.last, {y_});
}

void Convolution::backward(Lowering& lowering) {
  if (!lowering.gradient(y_)) return;
  const BufferId gradient = group_.relu ? lowering.relu_gradient(y_) : *lowering.gradient(y_);
  if (lowering.needs_gradient(x_)) emit_backward_data(lowering, gradient);
  lowering.with_activation(x_, gradient,
                           [this, &lowering, gradient](BufferId activation) { emit_backward_weights(lowering, gradient, activation); });
}

void Convolution::emit_backward_data(Lowering& lowering, BufferId gradient) {
  const Problem p = problem(lowering);
  const Candidate choice = choose_backward_data(lowering, p);
  const Argument weights =
      kernel_argument(lowering, node_.name, node_.parameters[0], kernel_, layout_of(choice.primitive, DNNL_ARG_WEIGHTS));
  const BufferId into = lowering.new_floats(lowering.floats(x_));
  lowering.emit_primitive(
      node_.name + " backward data", "convolution", dnnl::primitive(choice.primitive.get()),
      {{DNNL_ARG_DIFF_DST, p.target, gradient}, weights, {DNNL_ARG_DIFF_SRC, p.source, into}, scratchpad(lowering, choice)});
  lowering.gradients().add_term(x_, into);
}

void Convolution::emit_backward_weights(Lowering& lowering, BufferId gradient, BufferId activation) {
  const Problem p = problem(lowering);
  const Candidate choice = choose_backward_weights(lowering, p);
  const KernelGradient kernel = kernel_gradient(lowering, node_.parameters[0], kernel_, layout_of(choice.primitive, DNNL_ARG_DIFF_WEIGHTS));
  lowering.emit_primitive(node_.name + " backward weights", "convolution", dnnl::primitive(choice.primitive.get()),
                          {{DNNL_ARG_SRC, p.source, activation},
                           {DNNL_ARG_DIFF_DST, p.target, gradient},
                           kernel.argument,
                           bias_argument(lowering, p.bias, DNNL_ARG_DIFF_BIAS, ModelMemory::Space::gradients),
                           scratchpad(lowering, choice)},
                          kernel.in_place ? node_.parameters : std::vector<std::size_t>{});
  emit_kernel_gradient(lowering, node_.name, node_.parameters[0], kernel_, kernel, node_.parameters);
}

}  // namespace

std::unique_ptr<Lowered> lower_convolution(const Group& group, const graph::Graph& graph, const graph::Window& rows,
                                           const graph::Window& columns) {
  return std::make_unique<Convolution>(group, graph.node(group.leader), rows, columns);
}

}  // namespace trireme::engine
