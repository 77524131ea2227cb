// SPDX-License-Identifier: Apache-2.0
// Finds the nodes that are executed as one.
#pragma once

#include <vector>

#include "trireme/engine/op_entry.h"
#include "trireme/graph/graph.h"

namespace trireme::engine {

// Who reads each node's value, by node.
std::vector<std::vector<graph::NodeId>> consumers_of(const graph::Graph& graph);

// The groups in an order in which they can run; every node belongs to exactly one.
std::vector<Group> fuse(const graph::Graph& graph);

}  // namespace trireme::engine
