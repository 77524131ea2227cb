// SPDX-License-Identifier: Apache-2.0
// Leads the steps of a program back to the nodes of its graph.
#pragma once

#include <string>
#include <vector>

#include "trireme/engine/op_entry.h"
#include "trireme/engine/op_times.h"
#include "trireme/graph/graph.h"

namespace trireme::engine {

struct NamedStep {
  std::string name;
  std::string category;
  Pass pass = Pass::forward;
};

// Steps are named after the node, tensor or slice that they are for, each of which begins with the name of a node.
OpTable make_op_table(const graph::Graph& graph, const std::vector<Group>& groups, const std::vector<NamedStep>& steps);

}  // namespace trireme::engine
