// SPDX-License-Identifier: Apache-2.0
// A TCP connection between every two members of a group, each proven to be what it says.
#pragma once

#include <vector>

#include "trireme/comm/communicator.h"
#include "trireme/comm/links.h"

namespace trireme::comm {

// One connection for each rank; this member's own is not open. Each member listens on one port, and only until all have come.
// Gloo's own rendezvous would take the first connection for its peer, from wherever it came, and end the process on a crafted message.
std::vector<Connection> connect_mesh(Store& store, const Group& group, Seconds timeout);

}  // namespace trireme::comm
