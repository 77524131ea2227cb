// SPDX-License-Identifier: Apache-2.0
// gRPC's C side as credentials of its C++ side.
#include "trireme/rpc/renewable_credentials.h"

#include <grpc/grpc.h>

#include <string>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::rpc {
namespace {

class CoreCredentials final : public grpc::ServerCredentials {
 public:
  explicit CoreCredentials(grpc_server_credentials* credentials) : credentials_(credentials) {}
  ~CoreCredentials() override { grpc_server_credentials_release(credentials_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {
    ensure(false, "roles are checked by the server, not by gRPC");
  }

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};

}  // namespace

void RenewableCredentials::renew(Credentials next) {
  const std::lock_guard lock(mutex_);
  current_ = std::move(next);
  is_new_ = true;
}

std::shared_ptr<grpc::ServerCredentials> RenewableCredentials::mutual_tls() {
  grpc_ssl_server_credentials_options* const options = grpc_ssl_server_credentials_create_options_using_config_fetcher(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY, &fetch, this);
  return std::make_shared<CoreCredentials>(grpc_ssl_server_credentials_create_with_options(options));
}

grpc_ssl_certificate_config_reload_status RenewableCredentials::fetch(void* self, grpc_ssl_server_certificate_config** config) {
  auto& from = *static_cast<RenewableCredentials*>(self);
  const std::lock_guard lock(from.mutex_);
  if (!std::exchange(from.is_new_, false)) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{.private_key = from.current_.key.c_str(), .cert_chain = from.current_.certificate.c_str()};
  *config = grpc_ssl_server_certificate_config_create(from.current_.authority.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace trireme::rpc
