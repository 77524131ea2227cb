// SPDX-License-Identifier: Apache-2.0
// What a launcher of cluster/launchers/ means to the process that starts a training: each file of launchers/ is one. A launcher has none
// if it starts all nodes by its command.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "trireme/run/launch/cluster_run.h"
#include "trireme/run/launch/launched_nodes.h"
#include "trireme/run/launch/node_process.h"
#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/setup/job_request.h"
#include "trireme/run/terminal/console.h"
#include "trireme/run/training/takeover.h"

namespace trireme::run {

struct StartupEntry {
  std::string_view launcher;
  // One node is this process itself, without a coordinator beside it.
  bool trains_alone = false;
  // This process's rank, where the launcher's nodes are processes that something else has started, and rank 0 is the coordinator. Null:
  // there is this process only.
  std::int64_t (*rank)(const NodesRequest& nodes) = nullptr;
  // Makes this process, of a rank above 0, a node; returns its exit code. Not null if `rank` is not.
  int (*run_node)(const NodesRequest& nodes, const JobRequest& job, const Console& console) = nullptr;
  // The nodes, those that it starts and those that come by themselves. `takeover` is of the run's coordinator before, if that died.
  ClusterRequest (*request)(const NodesRequest& nodes, const TrainingRequest& training,
                            const std::optional<Takeover>& takeover) = launched_nodes;
  // Readies the machines and completes the request, before nodes start; what it returns lives until they have ended. Null: nothing is to
  // be done.
  std::shared_ptr<void> (*prepare)(ClusterRequest& cluster, const Console& console) = nullptr;
};

namespace launchers {
const std::vector<StartupEntry>& catalog();
}

// Of the launcher with this name.
StartupEntry startup_of(std::string_view launcher);

// For `run_node`.
NodeOptions rank_options(const NodesRequest& nodes, const JobRequest& job);

}  // namespace trireme::run
