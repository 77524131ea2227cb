// SPDX-License-Identifier: Apache-2.0
// Flags first, then what the environment tells of.
#include "trireme/cli/launcher_choice.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::int64_t number_or_zero(const char* name) {
  const std::string text = variable(name);
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size() ? value : 0;
}

// A WORLD_SIZE that is no number is told where the rest of the convention is read.
bool is_env_rank() { return !variable("RANK").empty() && !variable("WORLD_SIZE").empty() && number_or_zero("WORLD_SIZE") != 1; }

// One of several processes of mpirun, or of an MPI step of Slurm (srun --mpi=...).
bool is_mpi_rank() {
  if (number_or_zero("OMPI_COMM_WORLD_SIZE") > 1) return true;
  if (!variable("PMI_RANK").empty() && number_or_zero("PMI_SIZE") > 1) return true;
  return !variable("PMIX_RANK").empty() && number_or_zero("SLURM_STEP_NUM_TASKS") > 1;
}

bool has_several_slots(const cluster::SlurmVariables& slurm) {
  const std::string& tasks = slurm.tasks_per_node;
  return !tasks.empty() && tasks != "1" && tasks != "1(x1)";
}

void check_wishes(const LauncherWishes& wishes) {
  if (wishes.name.empty()) return;
  if (wishes.name != "env") find_entry(cluster::launchers::catalog(), wishes.name, "launcher");
  if (wishes.names_machines && wishes.name != "ssh")
    throw Error{invalid_argument, "--launcher {} does not take machines; leave out --cluster, --hostfile and -H, or the launcher",
                wishes.name};
  if (!wishes.names_machines && wishes.name == "ssh")
    throw Error{invalid_argument, "--launcher ssh: on which machines? Name them with --cluster, --hostfile or -H"};
  if (wishes.nodes > 0 && wishes.name == "mpi")
    throw Error{invalid_argument, "--launcher mpi: mpirun's -n says how many nodes there are; leave out ours"};
}

void check_place(const std::string& launcher) {
  if (launcher == "mpi" && !is_mpi_rank())
    throw Error{failed_precondition,
                "--launcher mpi: this is not one of several processes of mpirun; start it as mpirun -n 4 trireme train ..."};
  if (launcher == "env" && !is_env_rank())
    throw Error{failed_precondition, "--launcher env: RANK and WORLD_SIZE are not set, or there is one process only"};
  if (launcher != "slurm") return;
  if (!slurm_variables())
    throw Error{failed_precondition,
                "--launcher slurm: this is no allocation of Slurm (SLURM_JOB_ID is not set); run it inside salloc, or let `trireme export "
                "sbatch` write a batch script"};
  if (const std::int64_t tasks = number_or_zero("SLURM_STEP_NUM_TASKS"); tasks > 1)
    throw Error{
        failed_precondition,
        "srun started this program {} times; start it once, in the batch script or salloc's shell: it starts a node on every machine "
        "by itself",
        tasks};
}

std::string from_environment(const run::Console& console) {
  if (is_env_rank()) return "env";
  if (is_mpi_rank()) {
    if (number_or_zero("OMPI_COMM_WORLD_RANK") == 0 && number_or_zero("PMI_RANK") == 0 && number_or_zero("PMIX_RANK") == 0)
      console.err << "launcher mpi: these are processes of mpirun (--launcher local overrides)\n";
    return "mpi";
  }
  if (const auto slurm = slurm_variables(); slurm && has_several_slots(*slurm)) {
    console.err << fmt::format("launcher slurm: this is inside Slurm's job {} (--launcher local overrides)\n", slurm->job_id);
    return "slurm";
  }
  return "local";
}

}  // namespace

std::optional<cluster::SlurmVariables> slurm_variables() {
  cluster::SlurmVariables slurm{.job_id = variable("SLURM_JOB_ID"),
                                .node_list = variable("SLURM_JOB_NODELIST"),
                                .tasks_per_node = variable("SLURM_TASKS_PER_NODE"),
                                .cpus_per_node = variable("SLURM_JOB_CPUS_PER_NODE"),
                                .cpus_per_task = variable("SLURM_CPUS_PER_TASK")};
  if (slurm.job_id.empty()) return std::nullopt;
  return slurm;
}

std::string choose_launcher(const LauncherWishes& wishes, const run::Console& console) {
  check_wishes(wishes);
  std::string launcher = wishes.name;
  if (launcher.empty()) launcher = wishes.names_machines ? "ssh" : wishes.nodes > 0 ? "local" : from_environment(console);
  check_place(launcher);
  return launcher;
}

}  // namespace trireme::cli
