// SPDX-License-Identifier: Apache-2.0
// ssh: the shipped binary on another machine; the node ends when ssh's connection, and with it its input, closes.
#include "trireme/cluster/launch/ssh.h"

#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

std::vector<std::string> command(const NodePlan& plan, const LaunchOptions& options) {
  return ssh_command(
      plan.machine, options,
      start_script(options.binary_hash, node_arguments(plan), plan.has_shipped_libraries ? Libraries::shipped : Libraries::of_the_machine));
}

}  // namespace

LauncherEntry ssh() {
  return {.name = "ssh", .summary = "processes on other machines, over ssh", .command = command, .is_remote = true, .takes_machines = true};
}

}  // namespace trireme::cluster::launchers
