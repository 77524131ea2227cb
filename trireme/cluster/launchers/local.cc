// SPDX-License-Identifier: Apache-2.0
// local: a process on this machine.
#include <fmt/format.h>

#include "trireme/cluster/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

std::vector<std::string> command(const NodePlan& plan, const LaunchOptions& options) {
  return {options.binary.string(), "node", "--threads", fmt::format("{}", plan.threads)};
}

}  // namespace

LauncherEntry local() { return {.name = "local", .summary = "processes on this machine", .command = command}; }

}  // namespace trireme::cluster::launchers
