// SPDX-License-Identifier: Apache-2.0
// The nodes that a launcher starts by its command: on this machine, on those that are named, or on those that its environment has.
#pragma once

#include <optional>

#include "trireme/run/launch/cluster_run.h"
#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/training/takeover.h"
#include "trireme/run/training/training_run.h"

namespace trireme::run {

// `nodes.launcher` is chosen already. Throws invalid_argument if the machines have fewer slots than nodes are asked for.
ClusterRequest launched_nodes(const NodesRequest& nodes, const TrainingRequest& training, const std::optional<Takeover>& takeover);

}  // namespace trireme::run
