// SPDX-License-Identifier: Apache-2.0
// local: a process on this machine.
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

std::vector<std::string> command(const NodePlan& plan, const LaunchOptions& options) {
  std::vector<std::string> words{options.binary.string()};
  for (std::string& word : node_arguments(plan)) words.push_back(std::move(word));
  return words;
}

}  // namespace

LauncherEntry local() { return {.name = "local", .summary = "processes on this machine", .command = command}; }

}  // namespace trireme::cluster::launchers
