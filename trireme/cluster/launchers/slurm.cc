// SPDX-License-Identifier: Apache-2.0
// slurm: a step of the allocation that this process runs in. srun carries standard input to the node, in clear: secrets in it are munge's
// credentials, or stand in a file (hand_over.h).
#include "trireme/cluster/launch/slurm.h"

#include <fmt/format.h>

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

}  // namespace

LauncherEntry slurm() {
  return {.name = "slurm", .summary = "steps of the Slurm allocation that it runs in", .command = command, .of_node = node_exit_of_srun};
}

}  // namespace trireme::cluster::launchers
