// SPDX-License-Identifier: Apache-2.0
// How the nodes of a generation find each other beside their collectives.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/traffic.h"
#include "trireme/comm/cancellation.h"
#include "trireme/comm/peer_wait.h"
#include "trireme/comm/store.h"
#include "trireme/rpc/credentials.h"

namespace trireme::train {

struct Neighbours {
  std::vector<std::string> nodes;                          // names, as their certificates have them, in order of ranks
  comm::Store* store = nullptr;                            // of the generation
  std::string address;                                     // by which the others reach this node
  rpc::Credentials credentials;                            // of this node
  std::shared_ptr<const comm::Cancellation> cancellation;  // the generation is over
  std::function<void(const std::string& line)> say;        // of strangers; may be empty
  std::shared_ptr<comm::PeerWait> waits{};                 // gets waits for other nodes; may be empty
  std::shared_ptr<TrafficCounter> traffic{};               // counts what is exchanged with other nodes; may be empty
};

}  // namespace trireme::train
