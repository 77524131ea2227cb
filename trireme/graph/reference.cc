// SPDX-License-Identifier: Apache-2.0
// Runs a graph with the ops' reference kernels, node after node.
#include "trireme/graph/reference.h"

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::graph {
namespace {

std::vector<const double*> slice_pointers(const ParameterSpace& space, std::span<const double> values,
                                          const std::vector<std::size_t>& slices) {
  std::vector<const double*> pointers;
  if (values.empty()) return pointers;  // states may be left out while training
  for (const std::size_t slice : slices) pointers.push_back(values.data() + space[slice].offset);
  return pointers;
}

std::vector<std::uint32_t> layer_keys(std::span<const std::uint64_t> sample_keys, std::string_view layer) {
  std::vector<std::uint32_t> keys;
  for (const std::uint64_t key : sample_keys) keys.push_back(layer_key(key, layer));
  return keys;
}

std::vector<double> run_node(const Graph& graph, const Node& node, const ReferenceInput& input, std::vector<const double*> inputs) {
  const std::vector<Shape> shapes = graph.input_shapes(node);
  const std::vector<std::uint32_t> keys = layer_keys(input.sample_keys, node.name);
  std::vector<double> output(static_cast<std::size_t>(input.batch * node.shape.count()));
  node.op->reference(node.options, {.batch = input.batch,
                                    .training = input.training,
                                    .input_shapes = shapes,
                                    .output_shape = node.shape,
                                    .inputs = std::move(inputs),
                                    .parameters = slice_pointers(graph.parameters(), input.parameters, node.parameters),
                                    .states = slice_pointers(graph.states(), input.states, node.states),
                                    .sample_keys = keys,
                                    .output = output.data()});
  return output;
}

}  // namespace

std::uint32_t layer_key(std::uint64_t sample_key, std::string_view layer) {
  return static_cast<std::uint32_t>(combine(sample_key, hash_text(layer)));
}

std::vector<std::vector<double>> run_reference(const Graph& graph, const ReferenceInput& input) {
  ensure(input.inputs.size() == graph.inputs().size(), "there is a tensor for every input of the graph");
  ensure(std::ssize(input.parameters) == graph.parameters().size(), "the parameters cover the parameter space");
  ensure(input.training || std::ssize(input.states) == graph.states().size(), "the states cover the state space");
  std::vector<std::vector<double>> outputs;
  std::size_t next_input = 0;
  for (const Node& node : graph.nodes()) {
    std::vector<const double*> inputs;
    for (const NodeId id : node.inputs) inputs.push_back(outputs[id].data());
    // An input node has no node before it: it passes on what came from outside.
    if (node.op->name == "input") inputs.push_back(input.inputs[next_input++].data());
    outputs.push_back(run_node(graph, node, input, std::move(inputs)));
  }
  return outputs;
}

}  // namespace trireme::graph
