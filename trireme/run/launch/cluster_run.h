// SPDX-License-Identifier: Apache-2.0
// A training on several nodes: the coordinator in this process, the nodes started by a launcher or from outside.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "trireme/cluster/launch/launcher_entry.h"
#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/terminal/console.h"
#include "trireme/run/training/takeover.h"
#include "trireme/run/training/training_run.h"

namespace trireme::run {

struct ClusterRequest {
  std::string launcher = "local";
  std::vector<cluster::NodePlan> plans;  // nodes to start here
  std::vector<std::string> others;       // names of nodes that come by themselves
  cluster::LaunchOptions options;
  double start_timeout = 120;
  int min_nodes = 1;             // with fewer the training is not continued
  bool starts_with_min = false;  // nor does it need more to begin
  int max_nodes = 0;             // at a time; 0: all
  int restarts = 3;              // of a node, in a row, without progress
  double keep_nodes = 60;        // seconds that nodes wait for another coordinator if this one dies without a word
  double certificate_seconds = kCertificateSeconds;
  std::filesystem::path events;                                  // folder for event journals; empty: none
  std::function<std::vector<cluster::Machine>()> read_machines;  // of `machines_file`, as it is now
  std::filesystem::path machines_file;                           // machines added to it join; empty: it is not watched
  std::int64_t threads = 0;                                      // of each machine; 0: all
  std::optional<Takeover> takeover;                              // of the coordinator before, which died
  // For nodes that come by themselves: where they look for us, and the secret they share with us. Otherwise empty.
  std::string address;
  int port = 0;
  std::string secret;
  std::filesystem::path secret_file;  // to be removed once all have come; empty: it is the user's own
};

// Nodes for `count` workers on this machine; `threads` of it (0: all) are divided among them.
std::vector<cluster::NodePlan> local_plans(std::int64_t count, std::int64_t threads);
// What would be run, where, as lines.
std::string dry_run(const ClusterRequest& request);

// The exit code.
int run_cluster_training(const TrainingRequest& request, ClusterRequest cluster, const Console& console, const std::atomic<int>& stop);

}  // namespace trireme::run
