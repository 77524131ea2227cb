// SPDX-License-Identifier: Apache-2.0
// A server's certificate that is replaced while the server runs: connections made from then on get the new one.
#pragma once

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <mutex>

#include "trireme/rpc/credentials.h"

namespace trireme::rpc {

// gRPC's C++ side can replace certificates only from files on a disk, where a private key does not belong; its C side asks a function
// at each handshake. Must outlive the server that uses it.
class RenewableCredentials {
 public:
  explicit RenewableCredentials(Credentials first) : current_(std::move(first)) {}
  RenewableCredentials(const RenewableCredentials&) = delete;
  RenewableCredentials& operator=(const RenewableCredentials&) = delete;

  void renew(Credentials next);
  // Asks for a certificate of the same authority from each peer that connects.
  std::shared_ptr<grpc::ServerCredentials> mutual_tls();

 private:
  static grpc_ssl_certificate_config_reload_status fetch(void* self, grpc_ssl_server_certificate_config** config);

  std::mutex mutex_;
  Credentials current_;
  bool is_new_ = true;  // gRPC does not have it yet
};

}  // namespace trireme::rpc
