// SPDX-License-Identifier: Apache-2.0
// A TCP connection between every two members of a group, each proven to be what it says.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/communicator.h"
#include "trireme/comm/deadline.h"

namespace trireme::comm {

struct Mesh {
  std::shared_ptr<gloo::Context> context;
  std::vector<std::string> addresses;  // of each rank as this member's sockets see them, to name a peer in an error
};

// Tries several times, because a stranger that connects during the rendezvous takes a member's place.
Mesh connect_mesh(Store& store, const Group& group, Seconds timeout);

// An exception of Gloo's, in our words.
Error fault_of(const std::exception& fault, const Mesh& mesh);

}  // namespace trireme::comm
