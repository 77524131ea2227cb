// SPDX-License-Identifier: Apache-2.0
// local: one node needs no second process.
#include "trireme/run/launch/startup_entry.h"

namespace trireme::run::launchers {

StartupEntry local() { return {.launcher = "local", .trains_alone = true}; }

}  // namespace trireme::run::launchers
