// SPDX-License-Identifier: Apache-2.0
// env: processes with RANK and WORLD_SIZE.
#include "trireme/run/launch/env_launch.h"
#include "trireme/run/launch/startup_entry.h"

namespace trireme::run::launchers {
namespace {

// The launcher's check has found both variables.
EnvLaunch launch(const NodesRequest& nodes) { return env_launch(nodes.secret_file).value(); }

std::int64_t rank(const NodesRequest& nodes) { return launch(nodes).rank; }

int run_node(const NodesRequest& nodes, const JobRequest& job, const Console& console) {
  return run_env_node(launch(nodes), rank_options(nodes, job), console);
}

ClusterRequest request(const NodesRequest& nodes, const TrainingRequest& training, const std::optional<Takeover>&) {
  return env_cluster_request(launch(nodes), nodes, training);
}

}  // namespace

StartupEntry env() { return {.launcher = "env", .rank = rank, .run_node = run_node, .request = request}; }

}  // namespace trireme::run::launchers
