// SPDX-License-Identifier: Apache-2.0
// Sums over the layers of a graph.
#include "trireme/graph/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace trireme::graph {
namespace {

std::int64_t values_in(const ParameterSpace& space, const std::vector<std::size_t>& slices) {
  std::int64_t count = 0;
  for (const std::size_t slice : slices) count += space[slice].count;
  return count;
}

Cost operator+(const Cost& a, const Cost& b) {
  return {.forward_flops = a.forward_flops + b.forward_flops, .backward_flops = a.backward_flops + b.backward_flops};
}

LayerSummary summarize_node(const Graph& graph, const Node& node) {
  LayerSummary row{.name = node.name,
                   .op = std::string(node.op->name),
                   .shape = node.shape,
                   .parameters = values_in(graph.parameters(), node.parameters),
                   .states = values_in(graph.states(), node.states),
                   .cost = graph.cost(node),
                   .activation_bytes = node.shape.count() * kBytesPerValue};
  for (const NodeId input : node.inputs) row.inputs.push_back(graph.node(input).name);
  return row;
}

std::string block_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

std::string row_of(const std::string& layer) { return block_of(layer).empty() ? layer : block_of(layer); }

LayerSummary fold(std::span<const LayerSummary> block) {
  LayerSummary row{.name = row_of(block[0].name), .op = block[0].op, .shape = block.back().shape};
  if (!block_of(block[0].name).empty()) row.op = fmt::format("{} layers", block.size());
  for (const LayerSummary& layer : block) {
    row.parameters += layer.parameters;
    row.states += layer.states;
    row.cost = row.cost + layer.cost;
    row.activation_bytes += layer.activation_bytes;
    for (const std::string& input : layer.inputs) {
      const std::string from = row_of(input);
      if (from != row.name && std::find(row.inputs.begin(), row.inputs.end(), from) == row.inputs.end()) row.inputs.push_back(from);
    }
  }
  return row;
}

}  // namespace

ModelSummary summarize(const Graph& graph) {
  ModelSummary summary{.loss = graph.loss(), .output = graph.node(graph.output()).name};
  for (const Node& node : graph.nodes()) {
    const LayerSummary& row = summary.layers.emplace_back(summarize_node(graph, node));
    summary.parameters += row.parameters;
    summary.states += row.states;
    summary.cost = summary.cost + row.cost;
    summary.activation_bytes += row.activation_bytes;
  }
  return summary;
}

std::vector<LayerSummary> fold_blocks(const std::vector<LayerSummary>& layers) {
  std::vector<LayerSummary> rows;
  for (auto begin = layers.begin(); begin != layers.end();) {
    const std::string row = row_of(begin->name);
    const auto end = std::find_if(begin, layers.end(), [&](const LayerSummary& layer) { return row_of(layer.name) != row; });
    rows.push_back(fold({begin, end}));
    begin = end;
  }
  return rows;
}

}  // namespace trireme::graph
