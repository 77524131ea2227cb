// SPDX-License-Identifier: Apache-2.0
// env: something has started this program on every machine, with RANK and WORLD_SIZE; rank 0, the coordinator, has a child that is a node.
#include "trireme/base/error.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

// A WORLD_SIZE that is no number is reported where the rest of the convention is read.
bool is_rank(const Environment& environment) {
  return !environment("RANK").empty() && !environment("WORLD_SIZE").empty() && whole_number(environment, "WORLD_SIZE") != 1;
}

std::optional<std::string> applies(const Environment& environment) {
  return is_rank(environment) ? std::optional<std::string>("") : std::nullopt;
}

void check(const LauncherRequest&, const Environment& environment) {
  if (!is_rank(environment))
    throw Error{failed_precondition, "--launcher env: RANK and WORLD_SIZE are not set, or there is one process only"};
}

}  // namespace

LauncherEntry env() {
  return {.name = "env",
          .summary = "processes that something else starts with RANK and WORLD_SIZE, as torchrun does",
          .command = node_command,
          .is_here = true,
          .applies = applies,
          .check = check};
}

}  // namespace trireme::cluster::launchers
