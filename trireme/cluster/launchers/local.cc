// SPDX-License-Identifier: Apache-2.0
// local: a process on this machine.
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {

LauncherEntry local() { return {.name = "local", .summary = "processes on this machine", .command = node_command, .is_here = true}; }

}  // namespace trireme::cluster::launchers
