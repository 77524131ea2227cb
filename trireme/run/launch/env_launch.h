// SPDX-License-Identifier: Apache-2.0
// Started by something that sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (torchrun's convention) on every machine: rank 0 is the
// coordinator and a node, the others are nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/run/launch/cluster_run.h"
#include "trireme/run/launch/node_process.h"
#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

struct EnvLaunch {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::int64_t local_size = 1;  // LOCAL_WORLD_SIZE: nodes that share this machine
  std::string address;          // where rank 0 is
  int port = 0;
  std::string secret_file;  // who can read it may take part
  bool own_secret = false;  // rank 0 makes it and removes it
};

// What the environment says; nothing if it does not set RANK and WORLD_SIZE, or sets them to a single process.
std::optional<EnvLaunch> env_launch(const std::string& secret_file);

ClusterRequest env_cluster_request(const EnvLaunch& env, const NodesRequest& nodes, const TrainingRequest& request);
int run_env_node(const EnvLaunch& env, const NodeOptions& options, const Console& console);

}  // namespace trireme::run
