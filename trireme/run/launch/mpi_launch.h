// SPDX-License-Identifier: Apache-2.0
// Started by mpirun: every process is a node. The first one is the coordinator, and its node a child process, which takes its place in
// MPI: a crash of MPI's leaves the coordinator time to close its records.
#pragma once

#include <cstdint>
#include <filesystem>

#include "trireme/run/launch/cluster_run.h"
#include "trireme/run/launch/node_process.h"
#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

struct MpiLaunch {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::int64_t local_size = 1;  // processes that share this machine
  bool is_bound = false;        // mpirun has bound each process to its cores
};

// What the environment says; it must be that of a process of mpirun, or of srun --mpi.
MpiLaunch mpi_launch();

// For the first process.
ClusterRequest mpi_cluster_request(const MpiLaunch& launch, const NodesRequest& nodes, const TrainingRequest& request);
// The first process's node. The secret goes on to all others (mpi_secret.h).
int run_first_mpi_node(const NodeSecrets& secrets, const std::filesystem::path& secret_file, NodeOptions options, const Console& console);
// The other processes.
int run_mpi_node(const MpiLaunch& launch, NodeOptions options, const Console& console);

}  // namespace trireme::run
