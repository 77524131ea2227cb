// SPDX-License-Identifier: Apache-2.0
// mpi: processes of mpirun.
#include "trireme/run/launch/mpi_launch.h"
#include "trireme/run/launch/startup_entry.h"

namespace trireme::run::launchers {
namespace {

std::int64_t rank(const NodesRequest&) { return mpi_launch().rank; }

int run_node(const NodesRequest& nodes, const JobRequest& job, const Console& console) {
  if (nodes.only_shows) return 0;
  return run_mpi_node(mpi_launch(), rank_options(nodes, job), console);
}

ClusterRequest request(const NodesRequest& nodes, const TrainingRequest& training, const std::optional<Takeover>&) {
  return mpi_cluster_request(mpi_launch(), nodes, training);
}

}  // namespace

StartupEntry mpi() { return {.launcher = "mpi", .rank = rank, .run_node = run_node, .request = request}; }

}  // namespace trireme::run::launchers
