// SPDX-License-Identifier: Apache-2.0
// Nodes are added one by one; each is checked, shaped and given its place in the parameter space.
#include "trireme/graph/graph.h"

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/error_context.h"
#include "trireme/graph/initializers.h"
#include "trireme/graph/option_check.h"

namespace trireme::graph {
namespace {

// Far beyond what a machine holds, and far below where products of extents overflow.
constexpr double kMaxCount = 1e12;

void check_count(const Shape& shape, std::string_view what) {
  double count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<double>(extent);
  if (count > kMaxCount) throw Error{invalid_argument, "{} would be {}, more than any machine holds", what, shape.to_string()};
}

void check_input_count(const OpEntry& op, std::size_t found) {
  const auto min = static_cast<std::size_t>(op.min_inputs);
  const auto max = static_cast<std::size_t>(op.max_inputs);
  if (found >= min && found <= max) return;
  const std::string wanted = min == max ? fmt::format("{}", min) : fmt::format("{} to {}", min, max);
  throw Error{invalid_argument, "takes {} input{}, was given {}", wanted, max == 1 ? "" : "s", found};
}

std::vector<std::size_t> place(const std::string& layer, const std::vector<ParameterSpec>& added, ParameterSpace& space,
                               std::vector<ParameterSpec>& specs) {
  std::vector<std::size_t> slices;
  for (const ParameterSpec& spec : added) {
    slices.push_back(space.add(layer + "/" + spec.name, spec.shape, spec.l2));
    specs.push_back(spec);
  }
  return slices;
}

}  // namespace

NodeId Graph::add(std::string name, std::string_view op, std::any options, std::vector<NodeId> inputs) {
  if (name.empty()) throw Error{invalid_argument, "a layer ({}) needs a name", op};
  if (find(name) != nullptr) throw Error{invalid_argument, "layer '{}' ({}): the name is taken by an earlier layer", name, op};
  Node node{.name = std::move(name), .op = &find_op(op), .options = std::move(options), .inputs = std::move(inputs)};
  for (const NodeId input : node.inputs) ensure(input < nodes_.size(), "a node's inputs are added before it");
  ensure(node.options.type() == node.op->options.defaults().type(), "a node's options are of its op's type");

  Definition definition = define(node);
  node.shape = std::move(definition.shape);
  node.parameters = place(node.name, definition.parameters, parameters_, parameter_specs_);
  node.states = place(node.name, definition.states, states_, state_specs_);
  const NodeId id = nodes_.size();
  if (op == "input") inputs_.push_back(id);
  nodes_.push_back(std::move(node));
  return id;
}

// The op knows its shapes, not its layer: this is where a message gets the layer's name.
Definition Graph::define(const Node& node) const {
  return with_context(fmt::format("layer '{}' ({})", node.name, node.op->name), [&] {
    check_input_count(*node.op, node.inputs.size());
    check_options(node.op->options, node.options);
    Definition definition = node.op->define(node.options, input_shapes(node));
    check_count(definition.shape, "its output");
    for (const ParameterSpec& spec : definition.parameters) check_count(spec.shape, fmt::format("its {}", spec.name));
    return definition;
  });
}

const Node* Graph::find(std::string_view name) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes_.end() ? nullptr : &*found;
}

std::vector<Shape> Graph::input_shapes(const Node& node) const {
  std::vector<Shape> shapes;
  for (const NodeId input : node.inputs) shapes.push_back(nodes_[input].shape);
  return shapes;
}

Cost Graph::cost(const Node& node) const { return node.op->cost(node.options, input_shapes(node), node.shape); }

void Graph::initialize_parameters(std::span<float> parameters, std::uint64_t seed) const {
  ensure(parameters.size() == static_cast<std::size_t>(parameters_.size()), "the span covers the parameter space");
  initialize(parameters_, parameter_specs_, parameters, seed);
}

void Graph::initialize_states(std::span<float> states) const {
  ensure(states.size() == static_cast<std::size_t>(states_.size()), "the span covers the state space");
  initialize(states_, state_specs_, states, 0);
}

}  // namespace trireme::graph
