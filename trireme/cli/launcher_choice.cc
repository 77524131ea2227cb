// SPDX-License-Identifier: Apache-2.0
// Flags first, then what each launcher says of the environment.
#include "trireme/cli/launcher_choice.h"

#include <fmt/format.h>

#include <cstdlib>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using cluster::LauncherEntry;

const LauncherEntry& launcher_of_environment(const run::Console& console) {
  for (const LauncherEntry& entry : cluster::launchers::catalog()) {
    const auto notice = entry.applies == nullptr ? std::nullopt : entry.applies(own_environment());
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

cluster::Environment own_environment() {
  return [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
}

const LauncherEntry& choose_launcher(const std::string& name, const cluster::LauncherRequest& request, const run::Console& console) {
  const LauncherEntry& entry = !name.empty()            ? cluster::find_launcher(name)
                               : request.names_machines ? cluster::find_launcher(cluster::kRemoteLauncher)
                               : request.nodes > 0      ? cluster::find_launcher(cluster::kLocalLauncher)
                                                        : launcher_of_environment(console);
  check_machines(entry, request.names_machines);
  if (entry.check != nullptr) entry.check(request, own_environment());
  return entry;
}

}  // namespace trireme::cli
