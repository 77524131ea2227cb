// SPDX-License-Identifier: Apache-2.0
// Which launcher a training takes: the one that is named, or the one that flags and environment speak for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/cli/command_entry.h"
#include "trireme/cluster/launch/slurm.h"

namespace trireme::cli {

// What the user said.
struct LauncherWishes {
  std::string name;  // --launcher; empty: not told
  bool names_machines = false;
  std::int64_t nodes = 0;  // 0: not told
};

// Slurm's variables; nothing outside of an allocation.
std::optional<cluster::SlurmVariables> slurm_variables();

// "local", "ssh", "slurm", "mpi", or "env" (RANK and WORLD_SIZE). One that nobody asked for is told on the console. Throws
// invalid_argument if the wishes contradict each other, failed_precondition if a launcher can't be used here.
std::string choose_launcher(const LauncherWishes& wishes, const run::Console& console);

}  // namespace trireme::cli
