// SPDX-License-Identifier: Apache-2.0
// What all launchers have in common.
#include "trireme/cluster/launcher_entry.h"

#include <fmt/format.h>

namespace trireme::cluster {

std::vector<std::string> node_arguments(const NodePlan& plan) { return {"node", "--threads", fmt::format("{}", plan.threads)}; }

}  // namespace trireme::cluster
