// SPDX-License-Identifier: Apache-2.0
// Which launcher a training uses: the one that is named, or the one that machines, their count and the environment speak for.
#pragma once

#include "trireme/cluster/launch/launcher_entry.h"
#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

// A launcher that was not asked for is reported on the console. Throws invalid_argument if parts of the request contradict each other,
// failed_precondition if a launcher can't be used here.
const cluster::LauncherEntry& choose_launcher(const NodesRequest& request, const Console& console);

}  // namespace trireme::run
