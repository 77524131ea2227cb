// SPDX-License-Identifier: Apache-2.0
// Each call appends a layer to the graph.
#include "trireme/graph/builder.h"

#include "trireme/base/error.h"

namespace trireme::graph {
namespace {

InputOptions input_options(const Shape& shape) {
  switch (shape.rank()) {
    case 1:
      return {.width = shape[0]};
    case 2:
      return {.channels = shape[0], .width = shape[1]};
    case 3:
      return {.channels = shape[0], .height = shape[1], .width = shape[2]};
    default:
      throw Error{invalid_argument, "an input is a vector, a sequence (channels x width) or an image (channels x height x width), not {}",
                  shape.to_string()};
  }
}

}  // namespace

Value Builder::apply(std::string_view op, std::any options, const std::vector<Value>& inputs, std::string name) {
  std::vector<NodeId> nodes;
  for (const Value value : inputs) nodes.push_back(value.node);
  if (name.empty()) name = free_name(op);
  return {graph_.add(std::move(name), op, std::move(options), std::move(nodes))};
}

std::string Builder::free_name(std::string_view op) const {
  const std::string stem = scope_.empty() ? std::string(op) : fmt::format("{}/{}", scope_, op);
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}_{}", stem, number);
    if (graph_.find(name) == nullptr) return name;
  }
}

Graph Builder::finish(Value output, std::string loss) {
  graph_.set_output(output.node);
  graph_.set_loss(std::move(loss));
  return std::move(graph_);
}

Value Builder::input(const Shape& shape, std::string name) { return apply("input", input_options(shape), {}, std::move(name)); }

Value Builder::conv2d(Value x, ConvOptions options, std::string name) { return apply("conv2d", std::move(options), {x}, std::move(name)); }

Value Builder::conv1d(Value x, ConvOptions options, std::string name) { return apply("conv1d", std::move(options), {x}, std::move(name)); }

Value Builder::dense(Value x, DenseOptions options, std::string name) { return apply("dense", std::move(options), {x}, std::move(name)); }

Value Builder::batch_norm(Value x, BatchNormOptions options, std::string name) {
  return apply("batch_norm", options, {x}, std::move(name));
}

Value Builder::relu(Value x, std::string name) { return apply("relu", NoOptions{}, {x}, std::move(name)); }
Value Builder::sigmoid(Value x, std::string name) { return apply("sigmoid", NoOptions{}, {x}, std::move(name)); }
Value Builder::tanh(Value x, std::string name) { return apply("tanh", NoOptions{}, {x}, std::move(name)); }
Value Builder::softmax(Value x, std::string name) { return apply("softmax", NoOptions{}, {x}, std::move(name)); }

Value Builder::max_pool(Value x, PoolOptions options, std::string name) {
  return apply("max_pool", std::move(options), {x}, std::move(name));
}

Value Builder::average_pool(Value x, PoolOptions options, std::string name) {
  return apply("average_pool", std::move(options), {x}, std::move(name));
}

Value Builder::global_average_pool(Value x, std::string name) { return apply("global_average_pool", NoOptions{}, {x}, std::move(name)); }
Value Builder::dropout(Value x, DropoutOptions options, std::string name) { return apply("dropout", options, {x}, std::move(name)); }
Value Builder::add(Value a, Value b, std::string name) { return apply("add", NoOptions{}, {a, b}, std::move(name)); }
Value Builder::concat(const std::vector<Value>& values, std::string name) { return apply("concat", NoOptions{}, values, std::move(name)); }
Value Builder::flatten(Value x, std::string name) { return apply("flatten", NoOptions{}, {x}, std::move(name)); }

}  // namespace trireme::graph
