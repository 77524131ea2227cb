// SPDX-License-Identifier: Apache-2.0
// Fusion by looking at the only consumer: op + ReLU, batch-norm + addition (+ ReLU).
#include "trireme/engine/fusion.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::engine {
namespace {

class Fuser {
 public:
  explicit Fuser(const graph::Graph& graph) : graph_(graph), consumers_(consumers_of(graph)), taken_(graph.nodes().size(), false) {}

  std::vector<Group> run() {
    std::vector<Group> groups;
    for (graph::NodeId id = 0; id < graph_.nodes().size(); ++id) {
      if (!taken_[id]) groups.push_back(group_from(id));
    }
    // A group runs where its last node stands: all its inputs are there by then.
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.last < b.last; });
    return groups;
  }

 private:
  Group group_from(graph::NodeId leader) {
    const OpEntry& op = find_op(graph_.node(leader).op->name);
    Group group{.leader = leader, .last = leader};
    if (op.fuses_add) try_add(group);
    if (op.fuses_relu) try_relu(group);
    return group;
  }

  // The only reader of a value, if it is of the given op and not fused already.
  std::optional<graph::NodeId> only_consumer(graph::NodeId id, std::string_view op) const {
    if (id == graph_.output() || consumers_[id].size() != 1) return std::nullopt;
    const graph::NodeId consumer = consumers_[id].front();
    if (taken_[consumer] || graph_.node(consumer).op->name != op) return std::nullopt;
    return consumer;
  }

  void try_add(Group& group) {
    const auto sum = only_consumer(group.last, "add");
    if (!sum || graph_.node(*sum).inputs.size() != 2) return;
    const auto& operands = graph_.node(*sum).inputs;
    group.residual = operands[0] == group.last ? operands[1] : operands[0];
    take(group, *sum);
  }

  void try_relu(Group& group) {
    if (const auto relu = only_consumer(group.last, "relu")) {
      group.relu = true;
      take(group, *relu);
    }
  }

  void take(Group& group, graph::NodeId id) {
    taken_[id] = true;
    group.last = id;
  }

  const graph::Graph& graph_;
  std::vector<std::vector<graph::NodeId>> consumers_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<std::vector<graph::NodeId>> consumers_of(const graph::Graph& graph) {
  std::vector<std::vector<graph::NodeId>> consumers(graph.nodes().size());
  for (graph::NodeId id = 0; id < graph.nodes().size(); ++id) {
    for (const graph::NodeId input : graph.node(id).inputs) consumers[input].push_back(id);
  }
  return consumers;
}

std::vector<Group> fuse(const graph::Graph& graph) { return Fuser(graph).run(); }

}  // namespace trireme::engine
