// SPDX-License-Identifier: Apache-2.0
// mpi: mpirun has started the processes; the first one, the coordinator, has a child that takes its place among them.
#include "trireme/base/error.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

std::vector<std::string> command(const NodePlan& plan, const LaunchOptions& options) {
  std::vector<std::string> words = node_command(plan, options);
  words.insert(words.end(), {"--mpi-secret", options.secret_file.string()});
  return words;
}

// One of several processes of mpirun, or of an MPI step of Slurm (srun --mpi=...).
bool is_rank(const Environment& environment) {
  if (whole_number(environment, "OMPI_COMM_WORLD_SIZE") > 1) return true;
  if (!environment("PMI_RANK").empty() && whole_number(environment, "PMI_SIZE") > 1) return true;
  return !environment("PMIX_RANK").empty() && whole_number(environment, "SLURM_STEP_NUM_TASKS") > 1;
}

std::optional<std::string> applies(const Environment& environment) {
  if (!is_rank(environment)) return std::nullopt;
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (whole_number(environment, rank) != 0) return "";  // the first process says it for all
  return "these are processes of mpirun";
}

void check(const LauncherRequest& request, const Environment& environment) {
  if (request.nodes > 0) throw Error{invalid_argument, "--launcher mpi: mpirun's -n says how many nodes there are; leave out ours"};
  if (!is_rank(environment))
    throw Error{failed_precondition,
                "--launcher mpi: this is not one of several processes of mpirun; start it as mpirun -n 4 trireme train ..."};
}

}  // namespace

LauncherEntry mpi() {
  return {
      .name = "mpi", .summary = "processes of mpirun, with MPI's own collectives", .command = command, .applies = applies, .check = check};
}

}  // namespace trireme::cluster::launchers
