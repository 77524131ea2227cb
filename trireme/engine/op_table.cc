// SPDX-License-Identifier: Apache-2.0
// Rows by node, pass and category; costs go to the row that does what the node is for.
#include "trireme/engine/op_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace trireme::engine {
namespace {

constexpr std::string_view kCopies = "copies";
constexpr double kFloat = sizeof(float);

// As they are shown: fewer than the engine's own.
std::string_view shown(std::string_view category) {
  if (category == "elementwise" || category == "softmax" || category == "dropout" || category == "sum") return "activation";
  if (category == "reorder" || category == "weights" || category == "concat" || category == "input") return kCopies;
  return category;
}

class OpTableMaker {
 public:
  OpTableMaker(const graph::Graph& graph, const std::vector<Group>& groups) : graph_(graph), leader_(graph.nodes().size()) {
    for (const Group& group : groups)
      for (graph::NodeId id = group.leader;; id = next_of(id, group)) {
        leader_[id] = group.leader;
        if (id != group.leader) fused_[group.leader].push_back(id);
        if (id == group.last) break;
      }
    for (graph::NodeId id = 0; id < graph.nodes().size(); ++id) by_name_[graph.node(id).name] = id;
  }

  OpTable make(const std::vector<NamedStep>& steps) {
    for (const NamedStep& step : steps) table_.steps.push_back({step.name, row_of(step)});
    for (auto& [leader, row] : main_rows_) add_cost(leader, row);
    const auto add = [&](std::string name, std::string category, Pass pass) {
      table_.steps.push_back({name, table_.rows.size()});
      table_.rows.push_back({.name = std::move(name), .category = std::move(category), .pass = pass, .steps = 1});
    };
    add("waiting for values", "exchange", Pass::forward);
    add("handing gradients over", "exchange", Pass::backward);
    add("L2 penalty", "loss", Pass::backward);
    return std::move(table_);
  }

 private:
  // Fused nodes follow one another.
  graph::NodeId next_of(graph::NodeId id, const Group& group) const {
    for (graph::NodeId next = id + 1; next <= group.last; ++next) {
      const auto& inputs = graph_.node(next).inputs;
      if (std::find(inputs.begin(), inputs.end(), id) != inputs.end()) return next;
    }
    return group.last;
  }

  // "a/b/kernel" and "a/b backward" belong to "a/b", not to "a".
  std::optional<graph::NodeId> node_of(std::string_view step) const {
    for (std::size_t length = step.size(); length > 0; --length) {
      if (length < step.size() && step[length] != ' ' && step[length] != '/') continue;
      const auto found = by_name_.find(step.substr(0, length));
      if (found != by_name_.end()) return leader_[found->second];
    }
    return std::nullopt;
  }

  std::size_t row_of(const NamedStep& step) {
    const auto node = node_of(step.name);
    const std::string_view category = shown(step.category);
    const std::string name = node ? graph_.node(*node).name : step.name;
    const auto [found, is_new] = numbers_.try_emplace({name, std::string(category), step.pass}, table_.rows.size());
    if (is_new) {
      OpRow row{.name = name, .category = std::string(category), .pass = step.pass};
      for (const graph::NodeId fused : node ? fused_[*node] : std::vector<graph::NodeId>{}) row.fused.push_back(graph_.node(fused).name);
      table_.rows.push_back(std::move(row));
      if (node) note_main(*node, found->second, step.pass);
    }
    ++table_.rows[found->second].steps;
    return found->second;
  }

  // What a node is for is the first thing it does in forward, copies apart.
  struct MainRows {
    std::optional<std::size_t> forward, backward;
  };
  void note_main(graph::NodeId leader, std::size_t row, Pass pass) {
    const OpRow& of = table_.rows[row];
    MainRows& main = main_rows_[leader];
    if (pass == Pass::forward && (!main.forward || table_.rows[*main.forward].category == kCopies)) main.forward = row;
    if (pass == Pass::backward && main.forward && of.category == table_.rows[*main.forward].category) main.backward = row;
  }

  void add_cost(graph::NodeId leader, const MainRows& main) {
    std::vector<graph::NodeId> nodes = fused_[leader];
    nodes.push_back(leader);
    for (const graph::NodeId id : nodes) {
      const graph::Node& node = graph_.node(id);
      double inputs = 0, weights = 0;
      for (const graph::NodeId input : node.inputs) inputs += kFloat * static_cast<double>(graph_.node(input).shape.count());
      for (const std::size_t slice : node.parameters) weights += kFloat * static_cast<double>(graph_.parameters()[slice].count);
      const double outputs = kFloat * static_cast<double>(node.shape.count());
      const graph::Cost cost = graph_.cost(node);
      if (main.forward) add(table_.rows[*main.forward], cost.forward_flops, inputs + outputs, weights);
      // Reads its input, its weights and the gradient of its output; writes the gradients of input and weights.
      if (main.backward) add(table_.rows[*main.backward], cost.backward_flops, 2 * inputs + outputs, 2 * weights);
    }
  }
  static void add(OpRow& row, double flops, double sample_bytes, double weight_bytes) {
    row.flops += flops;
    row.sample_bytes += sample_bytes;
    row.weight_bytes += weight_bytes;
  }

  const graph::Graph& graph_;
  std::vector<graph::NodeId> leader_;
  std::map<graph::NodeId, std::vector<graph::NodeId>> fused_;
  std::map<std::string, graph::NodeId, std::less<>> by_name_;
  std::map<std::tuple<std::string, std::string, Pass>, std::size_t> numbers_;
  std::map<graph::NodeId, MainRows> main_rows_;
  OpTable table_;
};

}  // namespace

OpTable make_op_table(const graph::Graph& graph, const std::vector<Group>& groups, const std::vector<NamedStep>& steps) {
  return OpTableMaker(graph, groups).make(steps);
}

}  // namespace trireme::engine
