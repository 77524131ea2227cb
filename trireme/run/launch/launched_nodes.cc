// SPDX-License-Identifier: Apache-2.0
// From a count or machines to a plan for each node.
#include "trireme/run/launch/launched_nodes.h"

#include <algorithm>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/train/job/job.h"

namespace trireme::run {
namespace {

ClusterRequest without_nodes(const NodesRequest& nodes) {
  ClusterRequest cluster{.launcher = nodes.launcher,
                         .options = {.binary = node_program(nodes), .ssh_args = nodes.ssh_args, .accept_new_hosts = nodes.accept_new_hosts},
                         .start_timeout = nodes.start_timeout,
                         .min_nodes = std::max(1, nodes.min_nodes),
                         .starts_with_min = nodes.min_nodes > 0,
                         .max_nodes = nodes.max_nodes,
                         .restarts = nodes.restarts,
                         .keep_nodes = nodes.keep_nodes,
                         .certificate_seconds = nodes.certificate_seconds,
                         .events = nodes.events.empty() ? nodes.events : std::filesystem::absolute(nodes.events)};
  cluster.options.clock.ahead = nodes.certificate_seconds;
  if (nodes.max_nodes > 0 && nodes.min_nodes > nodes.max_nodes)
    throw Error{invalid_argument, "--min-nodes {} is more than --max-nodes {}", nodes.min_nodes, nodes.max_nodes};
  return cluster;
}

// Without a word about machines it goes on with the nodes that are still there; those of this machine can be started again.
void add_nodes_here(ClusterRequest& cluster, const NodesRequest& nodes, std::int64_t threads, const std::optional<Takeover>& takeover) {
  const std::int64_t before = takeover ? static_cast<std::int64_t>(takeover->nodes.size()) : 1;
  if (nodes.count > 0 || !takeover || takeover->launcher == nodes.launcher)
    cluster.plans = local_plans(nodes.count > 0 ? nodes.count : before, threads);
}

// On the machines that the launcher finds in its environment, or those that the user names.
void add_nodes_on_machines(ClusterRequest& cluster, const NodesRequest& nodes, const cluster::LauncherEntry& launcher) {
  const bool are_named = launcher.machines == nullptr;
  const cluster::Inventory inventory = are_named ? nodes.machines() : launcher.machines(environment_variable);
  if (are_named) cluster.options.ssh = inventory.ssh;
  cluster.options.binary_hash = digest_of_file(Digest::Kind::sha256, cluster.options.binary);
  cluster.plans = cluster::plan_nodes(inventory.machines, cluster.threads);
  if (!launcher.keeps_nodes) cluster.keep_nodes = 0;
}

void limit_nodes(ClusterRequest& cluster, std::int64_t count) {
  if (count > static_cast<std::int64_t>(cluster.plans.size()))
    throw Error{invalid_argument, "-n {}: the machines have {} {}; give them more slots, or ask for fewer nodes", count,
                cluster.plans.size(), cluster.plans.size() == 1 ? "slot" : "slots"};
  cluster.plans.resize(static_cast<std::size_t>(count));
}

}  // namespace

ClusterRequest launched_nodes(const NodesRequest& nodes, const TrainingRequest& training, const std::optional<Takeover>& takeover) {
  const cluster::LauncherEntry& launcher = cluster::find_launcher(nodes.launcher);
  ClusterRequest cluster = without_nodes(nodes);
  const std::int64_t threads = train::job_from_config(training.config).train.threads;
  if (launcher.machines == nullptr && !launcher.takes_machines) {
    add_nodes_here(cluster, nodes, threads, takeover);
    return cluster;
  }
  cluster.threads = threads;
  add_nodes_on_machines(cluster, nodes, launcher);
  if (nodes.count > 0) limit_nodes(cluster, nodes.count);
  if (nodes.count == 0) cluster.machines_file = nodes.machines_file;
  cluster.read_machines = [named = nodes.machines] { return named().machines; };
  return cluster;
}

}  // namespace trireme::run
