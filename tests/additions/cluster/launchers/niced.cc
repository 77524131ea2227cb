// SPDX-License-Identifier: Apache-2.0
// niced: processes of this machine with a low priority, a launcher that is added from outside.
#include "trireme/base/error.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster::launchers {
namespace {

std::vector<std::string> command(const NodePlan& plan, const LaunchOptions& options) {
  std::vector<std::string> words{"nice"};
  for (std::string& word : node_command(plan, options)) words.push_back(std::move(word));
  return words;
}

std::optional<std::string> applies(const Environment& environment) {
  if (environment("TRIREME_NICED").empty()) return std::nullopt;
  return "TRIREME_NICED is set";
}

void check(const LauncherRequest& request, const Environment&) {
  if (request.nodes > 3) throw Error{invalid_argument, "--launcher niced: at most 3 nodes, not {}", request.nodes};
}

}  // namespace

LauncherEntry niced() {
  return {.name = "niced",
          .summary = "processes of this machine with a low priority",
          .command = command,
          .is_here = true,
          .applies = applies,
          .check = check};
}

}  // namespace trireme::cluster::launchers
