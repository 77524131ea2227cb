// SPDX-License-Identifier: Apache-2.0
// Who a process is to its peers: a certificate of the job's own authority.
#pragma once

#include <string>

namespace trireme::rpc {

// As PEM texts.
struct Credentials {
  std::string authority;    // the certificate that all certificates of this job are signed with
  std::string certificate;  // this process's
  std::string key;          // its private key: never in an argument, the environment or a log
};

// As its certificate says.
struct Identity {
  std::string role;  // "coordinator" or "node"
  std::string name;  // of the node: "3"
};

}  // namespace trireme::rpc
