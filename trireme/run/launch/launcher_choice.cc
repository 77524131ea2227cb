// SPDX-License-Identifier: Apache-2.0
// The request first, then what each launcher says of the environment.
#include "trireme/run/launch/launcher_choice.h"

#include <fmt/format.h>

#include "trireme/base/error.h"
#include "trireme/run/setup/own_process.h"

namespace trireme::run {
namespace {

using cluster::LauncherEntry;

const LauncherEntry& launcher_of_environment(const Console& console) {
  for (const LauncherEntry& entry : cluster::launchers::catalog()) {
    const auto notice = entry.applies == nullptr ? std::nullopt : entry.applies(environment_variable);
    if (!notice) continue;
    if (!notice->empty()) console.err << fmt::format("launcher {}: {} (--launcher local overrides)\n", entry.name, *notice);
    return entry;
  }
  return cluster::find_launcher(cluster::kLocalLauncher);
}

void check_machines(const LauncherEntry& entry, bool names_machines) {
  if (names_machines && !entry.takes_machines)
    throw Error{invalid_argument, "--launcher {} does not take machines; leave out --cluster, --hostfile and -H, or the launcher",
                entry.name};
  if (!names_machines && entry.takes_machines)
    throw Error{invalid_argument, "--launcher {}: on which machines? Name them with --cluster, --hostfile or -H", entry.name};
}

}  // namespace

const LauncherEntry& choose_launcher(const NodesRequest& request, const Console& console) {
  const bool names_machines = request.machines != nullptr;
  const LauncherEntry& entry = !request.launcher.empty() ? cluster::find_launcher(request.launcher)
                               : names_machines          ? cluster::find_launcher(cluster::kRemoteLauncher)
                               : request.count > 0       ? cluster::find_launcher(cluster::kLocalLauncher)
                                                         : launcher_of_environment(console);
  check_machines(entry, names_machines);
  if (entry.check != nullptr) entry.check({.names_machines = names_machines, .nodes = request.count}, environment_variable);
  return entry;
}

}  // namespace trireme::run
