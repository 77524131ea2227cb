// SPDX-License-Identifier: Apache-2.0
// Which launcher a training uses: the one that is named, or the one that flags and environment speak for.
#pragma once

#include <string>

#include "trireme/cli/command_entry.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cli {

cluster::Environment own_environment();

// `name` is that of --launcher; empty: not given. A launcher that was not asked for is reported on the console. Throws invalid_argument
// if flags contradict each other, failed_precondition if a launcher can't be used here.
const cluster::LauncherEntry& choose_launcher(const std::string& name, const cluster::LauncherRequest& request,
                                              const run::Console& console);

}  // namespace trireme::cli
