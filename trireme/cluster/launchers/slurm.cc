// SPDX-License-Identifier: Apache-2.0
// slurm: a step of the allocation that this process runs in. srun carries standard input to the node, in clear: secrets in it are munge's
// credentials, or stand in a file (hand_over.h).
#include "trireme/cluster/launch/slurm.h"

#include <fmt/format.h>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

// --overlap: the step must start even if another one, such as the shell that we run in, holds the machine's CPUs; --whole, --mem=0 and
// --cpu-bind=none: all nodes of a machine may use all that the job has there, and --threads divides it.
// When a job is cancelled or preempted Slurm sends SIGTERM to every process. Only the training reacts, by asking the nodes for a
// checkpoint; so they must live on until it lets them go, or KillWait is over.
std::vector<std::string> command(const NodePlan& plan, const LaunchOptions& options) {
  std::vector<std::string> words{"srun", "--quiet", "--overlap", "--whole", "--mem=0", "--cpu-bind=none", "--unbuffered"};
  words.insert(words.end(), {"--nodes=1", "--ntasks=1", fmt::format("--nodelist={}", plan.machine.name)});
  words.insert(words.end(), {"sh", "-c", "trap '' TERM USR1 USR2 HUP; exec \"$@\"", "sh", options.binary.string()});
  for (std::string& word : node_arguments(plan)) words.push_back(std::move(word));
  return words;
}

bool has_several_slots(const SlurmVariables& slurm) {
  const std::string& tasks = slurm.tasks_per_node;
  return !tasks.empty() && tasks != "1" && tasks != "1(x1)";
}

std::optional<std::string> applies(const Environment& environment) {
  const auto slurm = slurm_variables(environment);
  if (!slurm || !has_several_slots(*slurm)) return std::nullopt;
  return fmt::format("this is inside Slurm's job {}", slurm->job_id);
}

void check(const LauncherRequest&, const Environment& environment) {
  if (!slurm_variables(environment))
    throw Error{failed_precondition,
                "--launcher slurm: this is no allocation of Slurm (SLURM_JOB_ID is not set); run it inside salloc, or let `trireme export "
                "sbatch` write a batch script"};
  if (const std::int64_t tasks = whole_number(environment, "SLURM_STEP_NUM_TASKS"); tasks > 1)
    throw Error{
        failed_precondition,
        "srun started this program {} times; start it once, in the batch script or salloc's shell: it starts a node on every machine "
        "by itself",
        tasks};
}

Inventory machines(const Environment& environment) { return slurm_inventory(*slurm_variables(environment)); }

}  // namespace

// An allocation's processes do not outlive it, and the next one may have other machines.
LauncherEntry slurm() {
  return {.name = "slurm",
          .summary = "steps of the Slurm allocation that it runs in",
          .command = command,
          .keeps_nodes = false,
          .applies = applies,
          .check = check,
          .machines = machines,
          .of_node = node_exit_of_srun};
}

}  // namespace trireme::cluster::launchers
