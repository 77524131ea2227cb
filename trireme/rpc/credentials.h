// SPDX-License-Identifier: Apache-2.0
// Who a process is to its peers: a certificate of the job's own authority.
#pragma once

#include <string>
#include <string_view>

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

// In a certificate an identity is the address trireme://<role>/<name>. Both parts are letters, digits, '.', '_' and '-'.
std::string address_of(const Identity& identity);
Identity identity_of_address(std::string_view address);            // throws unauthenticated if it is none
Identity identity_of_certificate(const std::string& certificate);  // a PEM text; throws unauthenticated if it names no identity

}  // namespace trireme::rpc
