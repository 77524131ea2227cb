// SPDX-License-Identifier: Apache-2.0
// The program that nodes run.
#include "trireme/run/launch/nodes_request.h"

#include "trireme/run/setup/own_process.h"

namespace trireme::run {

std::filesystem::path node_program(const NodesRequest& request) { return request.program.empty() ? own_program() : request.program; }

}  // namespace trireme::run
