// SPDX-License-Identifier: Apache-2.0
// What a node must know and no other process may: handed over its standard input as one line, never by arguments or environment.
#pragma once

#include <cstdint>
#include <string>

#include "trireme/rpc/credentials.h"

namespace trireme::run {

struct NodeSecrets {
  std::string coordinator;  // "10.0.0.1:4711"
  rpc::Credentials credentials;
  std::string key;         // the job's, by which collectives prove themselves; any bytes
  std::string host;        // this machine as the user calls it
  std::int64_t slots = 1;  // nodes that share this machine
};

std::string to_line(const NodeSecrets& secrets);  // with its end mark
NodeSecrets node_secrets(const std::string& line);

}  // namespace trireme::run
