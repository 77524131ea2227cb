// SPDX-License-Identifier: Apache-2.0
// A model as data: nodes in topological order, their shapes, and the layout of all parameters.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/graph/op_entry.h"
#include "trireme/tensor/parameter_space.h"
#include "trireme/tensor/shape.h"

namespace trireme::graph {

using NodeId = std::size_t;

struct Node {
  std::string name;  // unique in the graph
  const OpEntry* op = nullptr;
  std::any options;
  std::vector<NodeId> inputs;
  Shape shape;                          // of one sample
  std::vector<std::size_t> parameters;  // slices of Graph::parameters()
  std::vector<std::size_t> states;      // slices of Graph::states()

  template <class T>
  const T& options_as() const {
    return std::any_cast<const T&>(options);
  }
};

class Graph {
 public:
  // Appends a node; its inputs must be there already. Throws invalid_argument naming the layer if shapes don't fit.
  NodeId add(std::string name, std::string_view op, std::any options, std::vector<NodeId> inputs);
  void set_output(NodeId output) { output_ = output; }
  void set_loss(std::string loss) { loss_ = std::move(loss); }

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Node* find(std::string_view name) const;                 // null if absent
  const std::vector<NodeId>& inputs() const { return inputs_; }  // nodes of op `input`, in order
  NodeId output() const { return output_; }
  const std::string& loss() const { return loss_; }  // softmax_cross_entropy | mean_squared_error
  const ParameterSpace& parameters() const { return parameters_; }
  const ParameterSpace& states() const { return states_; }
  // Of a slice of states() that older checkpoints lack: the value it had there.
  std::optional<float> state_if_absent(std::size_t slice) const { return state_specs_[slice].if_absent; }

  std::vector<Shape> input_shapes(const Node& node) const;
  Cost cost(const Node& node) const;

  // Deterministic for a seed, on every machine: each slice has its own random stream.
  void initialize_parameters(std::span<float> parameters, std::uint64_t seed) const;
  void initialize_states(std::span<float> states) const;

 private:
  Definition define(const Node& node) const;

  std::vector<Node> nodes_;
  std::vector<NodeId> inputs_;
  NodeId output_ = 0;
  std::string loss_ = "softmax_cross_entropy";
  ParameterSpace parameters_;
  ParameterSpace states_;
  std::vector<ParameterSpec> parameter_specs_;
  std::vector<ParameterSpec> state_specs_;
};

}  // namespace trireme::graph
