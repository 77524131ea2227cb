// SPDX-License-Identifier: Apache-2.0
// Lowers convolutions: candidates of algorithms, weights, bias, and both backward passes.
#include "trireme/engine/convolution.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "trireme/base/parallel.h"
#include "trireme/engine/candidates.h"
#include "trireme/engine/kernels/cpu.h"
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
  struct Problem : ConvolutionShape {  // weights of any layout
    dnnl::memory::desc canonical;
    std::string text;
  };

  // A primitive works on a part of the batch with one thread, or on all of it with all threads.
  static std::int64_t samples(const Lowering& lowering) { return lowering.by_part() ? lowering.part_size() : lowering.batch(); }
  static int threads(const Lowering& lowering) { return lowering.by_part() ? 1 : lowering.threads(); }
  static void emit(Lowering& lowering, std::string name, const Candidate& choice, std::vector<Argument> arguments);
  // What is convolved, and the kernel as it looks beside it.
  struct Input {
    TensorId tensor = 0;
    KernelShape kernel;
  };
  Input input(Lowering& lowering) const;
  Input input_of_weights(Lowering& lowering) const;
  Input with_kernel(const Lowering& lowering, TensorId tensor) const;
  Problem problem(Lowering& lowering, const Input& input) const;
  Candidate choose_forward(Lowering& lowering, const Problem& p) const;
  static Candidate choose_backward_data(Lowering& lowering, const Problem& p);
  static Candidate choose_backward_weights(Lowering& lowering, const Problem& p);

  void emit_backward_data(Lowering& lowering, BufferId gradient);
  void emit_backward_weights(Lowering& lowering, BufferId gradient, BufferId activation);

  // A gradient that every lane adds up for itself: the sum so far, and what one part has contributed.
  struct LaneSum {
    Argument argument;
    std::int64_t floats;
    BufferId total, part;
  };
  void emit_weights_by_part(Lowering& lowering, const Candidate& choice, const std::vector<Argument>& read, const Argument& kernel,
                            const Argument& bias);
  Argument bias_argument(const Lowering& lowering, const dnnl::memory::desc& layout, int kind, ModelMemory::Space space) const;
  static Argument scratchpad(Lowering& lowering, const Candidate& choice);

  Group group_;
  const graph::Node& node_;
  graph::Window rows_;
  graph::Window columns_;
  bool bias_;
  Input x_;
  Input x_of_weights_;  // as the gradient of the weights reads it
  TensorId y_ = 0;
};

// oneDNN's first-layer kernels read one or three plain channels; everything else is blocked.
Convolution::Input Convolution::input(Lowering& lowering) const {
  const graph::NodeId source = node_.inputs[0];
  const std::int64_t channels = lowering.node(source).shape[0];
  const Tensor& given = lowering.tensor(lowering.value(source));
  const bool is_plain = given.layout == Layout::plain && (channels == 1 || channels == 3);
  return with_kernel(lowering, is_plain ? lowering.plain(source) : lowering.blocked(source));
}

// With AVX2 oneDNN has no kernel for the gradient of the weights of one plain channel. Its reference took nine tenths of a step of
// mnist_cnn; a block of eight channels, seven of them empty, is far cheaper.
Convolution::Input Convolution::input_of_weights(Lowering& lowering) const {
  const bool is_one_plain = lowering.tensor(x_.tensor).layout == Layout::plain && lowering.node(node_.inputs[0]).shape[0] == 1;
  if (!is_one_plain || !lowering.training() || kernel_set() != KernelSet::avx2) return x_;
  return with_kernel(lowering, lowering.blocked(node_.inputs[0]));
}

Convolution::Input Convolution::with_kernel(const Lowering& lowering, TensorId tensor) const {
  const std::int64_t channels = lowering.node(node_.inputs[0]).shape[0];
  return {tensor, kernel_shape(lowering, {node_.shape[0], channels, rows_.kernel, columns_.kernel}, tensor)};
}

Convolution::Problem Convolution::problem(Lowering& lowering, const Input& input) const {
  Problem p;
  p.strides = {rows_.stride, columns_.stride};
  p.before = {rows_.before, columns_.before};
  p.after = {rows_.after, columns_.after};
  p.source = lowering.layout(input.tensor, samples(lowering));
  p.weights = any_layout(input.kernel.seen());
  if (bias_) p.bias = plain_layout({node_.shape[0]});
  p.target = lowering.layout(y_, samples(lowering));
  p.canonical = plain_layout(input.kernel.seen());
  p.text = fmt::format("{} kernel {} stride {} pad {}+{} {} bias {} relu {} threads {}", fmt::join(dims_of(p.source), "x"),
                       fmt::join(input.kernel.seen(), "x"), fmt::join(p.strides, ","), fmt::join(p.before, ","), fmt::join(p.after, ","),
                       lowering.tensor(input.tensor).layout == Layout::plain ? "plain" : "blocked", bias_, group_.relu, threads(lowering));
  return p;
}

Candidate Convolution::choose_forward(Lowering& lowering, const Problem& p) const {
  const ThreadScope scope(threads(lowering));
  const dnnl::primitive_attr attributes = group_.relu ? followed_by_relu() : user_scratchpad();
  Question question{.key = "convolution forward " + p.text,
                    .arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD},
                    .weights = DNNL_ARG_WEIGHTS,
                    .canonical = p.canonical};
  for (const auto& [choice, label] : kAlgorithms)
    add_candidates(question.candidates, label, convolution_forward(lowering.device(), choice, p, attributes));
  return lowering.chooser().choose(question);
}

Candidate Convolution::choose_backward_data(Lowering& lowering, const Problem& p) {
  const ThreadScope scope(threads(lowering));
  Question question{.key = "convolution backward data " + p.text,
                    .arguments = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC, DNNL_ARG_SCRATCHPAD},
                    .weights = DNNL_ARG_WEIGHTS,
                    .canonical = p.canonical};
  for (const auto& [choice, label] : kAlgorithms)
    add_candidates(question.candidates, label, convolution_backward_data(lowering.device(), choice, p));
  return lowering.chooser().choose(question);
}

Candidate Convolution::choose_backward_weights(Lowering& lowering, const Problem& p) {
  const ThreadScope scope(threads(lowering));
  Question question{.key = "convolution backward weights " + p.text,
                    .arguments = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS, DNNL_ARG_SCRATCHPAD},
                    .weights = DNNL_ARG_DIFF_WEIGHTS,
                    .canonical = p.canonical};
  for (const auto& [choice, label] : kAlgorithms)
    add_candidates(question.candidates, label, convolution_backward_weights(lowering.device(), choice, p));
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
  x_of_weights_ = input_of_weights(lowering);
  const Problem p = problem(lowering, x_);
  const Candidate choice = choose_forward(lowering, p);
  const Argument weights = kernel_argument(lowering, node_.parameters[0], x_.kernel, layout_of(choice.primitive, DNNL_ARG_WEIGHTS));
  emit(lowering, node_.name + " forward", choice,
       {{DNNL_ARG_SRC, p.source, lowering.tensor(x_.tensor).buffer},
        weights,
        bias_argument(lowering, p.bias, DNNL_ARG_BIAS, ModelMemory::Space::parameters),
        {DNNL_ARG_DST, p.target, lowering.tensor(y_).buffer},
        scratchpad(lowering, choice)});
  lowering.set_value(group_.last, {y_});
}

void Convolution::backward(Lowering& lowering) {
  if (!lowering.gradient(y_)) return;
  const BufferId gradient = group_.relu ? lowering.relu_gradient(y_) : *lowering.gradient(y_);
  if (lowering.needs_gradient(x_.tensor)) emit_backward_data(lowering, gradient);
  lowering.with_activation(x_of_weights_.tensor, gradient,
                           [this, &lowering, gradient](BufferId activation) { emit_backward_weights(lowering, gradient, activation); });
}

void Convolution::emit_backward_data(Lowering& lowering, BufferId gradient) {
  const Problem p = problem(lowering, x_);
  const Candidate choice = choose_backward_data(lowering, p);
  const Argument weights = kernel_argument(lowering, node_.parameters[0], x_.kernel, layout_of(choice.primitive, DNNL_ARG_WEIGHTS));
  const BufferId into = lowering.new_like(x_.tensor);
  emit(lowering, node_.name + " backward data", choice,
       {{DNNL_ARG_DIFF_DST, p.target, gradient}, weights, {DNNL_ARG_DIFF_SRC, p.source, into}, scratchpad(lowering, choice)});
  lowering.gradients().add_term(x_.tensor, into);
}

void Convolution::emit_backward_weights(Lowering& lowering, BufferId gradient, BufferId activation) {
  const Problem p = problem(lowering, x_of_weights_);
  const Candidate choice = choose_backward_weights(lowering, p);
  const auto layout = layout_of(choice.primitive, DNNL_ARG_DIFF_WEIGHTS);
  const std::vector<Argument> read{
      {DNNL_ARG_SRC, p.source, activation}, {DNNL_ARG_DIFF_DST, p.target, gradient}, scratchpad(lowering, choice)};
  if (lowering.by_part())
    return emit_weights_by_part(lowering, choice, read, {DNNL_ARG_DIFF_WEIGHTS, layout, BufferId{}},
                                {DNNL_ARG_DIFF_BIAS, p.bias, BufferId{}});

  const KernelGradient kernel = kernel_gradient(lowering, node_.parameters[0], x_of_weights_.kernel, layout);
  std::vector<Argument> arguments = read;
  arguments.push_back(kernel.argument);
  arguments.push_back(bias_argument(lowering, p.bias, DNNL_ARG_DIFF_BIAS, ModelMemory::Space::gradients));
  Step step = lowering.primitive_step(node_.name + " backward weights", "convolution", dnnl::primitive(choice.primitive.get()), arguments);
  if (kernel.in_place) step.ready = node_.parameters;
  lowering.emit(std::move(step));
  if (!kernel.in_place) emit_kernel_gradient(lowering, node_.parameters[0], x_of_weights_.kernel, kernel.argument, node_.parameters);
}

// Each lane adds up its parts' gradients; then the lanes are added up in their order.
void Convolution::emit_weights_by_part(Lowering& lowering, const Candidate& choice, const std::vector<Argument>& read,
                                       const Argument& kernel, const Argument& bias) {
  const auto floats = [](const Argument& argument) { return static_cast<std::int64_t>(argument.layout.get_size() / sizeof(float)); };
  const LaneSum sums[] = {{kernel, floats(kernel), lowering.new_lane_floats(floats(kernel)), lowering.new_lane_floats(floats(kernel))},
                          {bias, floats(bias), lowering.new_lane_floats(floats(bias)), lowering.new_lane_floats(floats(bias))}};
  std::vector<BufferId> uses{sums[0].total, sums[0].part, sums[1].total, sums[1].part};
  for (const Argument& argument : read) uses.push_back(std::get<BufferId>(argument.where));
  lowering.emit(
      {.name = node_.name + " backward weights",
       .category = "convolution",
       .uses = uses,
       .bind_part = [&device = lowering.device(), primitive = dnnl::primitive(choice.primitive.get()), read, kernel_sum = sums[0],
                     bias_sum = sums[1], accumulate = lowering.flat_kernels().accumulate](const Addresses& at, const Part& part) -> Run {
         std::vector<Argument> arguments = read;
         for (const LaneSum& sum : {kernel_sum, bias_sum})
           arguments.push_back({sum.argument.kind, sum.argument.layout, part.opens_lane ? sum.total : sum.part});
         Run run = bind_primitive(device, primitive, arguments, at, part);
         if (part.opens_lane) return run;
         return [=, kernel_from = at.floats(kernel_sum.part, part), kernel_to = at.floats(kernel_sum.total, part),
                 bias_from = at.floats(bias_sum.part, part), bias_to = at.floats(bias_sum.total, part)](const Call& call) {
           run(call);
           accumulate(kernel_from, kernel_sum.floats, kernel_to);
           accumulate(bias_from, bias_sum.floats, bias_to);
         };
       }});
  lowering.emit(
      {.name = node_.name + " sum of lanes",
       .category = "weights",
       .uses = {sums[0].total, sums[1].total},
       .bind = [kernel_sum = sums[0], bias_sum = sums[1], lanes = lowering.lanes(), accumulate = lowering.flat_kernels().accumulate,
                bias_at = bias_ ? lowering.graph().parameters()[node_.parameters[1]].offset : 0](const Addresses& at) -> Run {
         return [=](const Call& call) {
           for (const LaneSum& sum : {kernel_sum, bias_sum}) {
             for (std::size_t lane = 1; lane < lanes; ++lane)
               accumulate(at.floats(sum.total, Part{.lane = lane}), sum.floats, at.floats(sum.total));
           }
           std::copy_n(at.floats(bias_sum.total), bias_sum.floats, call.model.gradients.data() + bias_at);
         };
       }});
  emit_kernel_gradient(lowering, node_.parameters[0], x_of_weights_.kernel, {DNNL_ARG_DIFF_WEIGHTS, kernel.layout, sums[0].total},
                       node_.parameters);
}

void Convolution::emit(Lowering& lowering, std::string name, const Candidate& choice, std::vector<Argument> arguments) {
  const dnnl::primitive primitive(choice.primitive.get());
  if (lowering.by_part()) return lowering.emit_primitive_by_part(std::move(name), "convolution", primitive, std::move(arguments));
  lowering.emit_primitive(std::move(name), "convolution", primitive, arguments);
}

}  // namespace

std::unique_ptr<Lowered> lower_convolution(const Group& group, const graph::Graph& graph, const graph::Window& rows,
                                           const graph::Window& columns) {
  return std::make_unique<Convolution>(group, graph.node(group.leader), rows, columns);
}

}  // namespace trireme::engine
