// SPDX-License-Identifier: Apache-2.0
// mpi: mpirun has started the processes; the first one, the coordinator, has a child that takes its place among them.
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

std::vector<std::string> command(const NodePlan& plan, const LaunchOptions& options) {
  std::vector<std::string> words{options.binary.string()};
  for (std::string& word : node_arguments(plan)) words.push_back(std::move(word));
  words.insert(words.end(), {"--mpi-secret", options.secret_file.string()});
  return words;
}

}  // namespace

LauncherEntry mpi() { return {.name = "mpi", .summary = "processes of mpirun, with MPI's own collectives", .command = command}; }

}  // namespace trireme::cluster::launchers
