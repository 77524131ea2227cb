// SPDX-License-Identifier: Apache-2.0
// A generic gRPC client that talks only to a coordinator.
#include "trireme/rpc/channel.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>

#include "trireme/rpc/client_session.h"
#include "trireme/rpc/grpc_bytes.h"
#include "trireme/rpc/server.h"

namespace trireme::rpc {
namespace {

namespace tls = grpc::experimental;

constexpr Seconds kLeastTry{0.05};
constexpr Seconds kLongestTry{6};
constexpr int kHangUps = 3;
constexpr Seconds kRetryPause{0.5};
constexpr int kReconnectMs = 100;
constexpr int kHandshakeMs = 5000;

// The names of machines are not compared: there is one coordinator in a job, and it may be reached through a tunnel.
class OnlyCoordinator final : public tls::ExternalCertificateVerifier {
 public:
  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>, grpc::Status* result) override {
    try {
      check(request->uri_names());
    } catch (const Error& error) {
      *result = status_of(error);
    }
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  static void check(const std::vector<grpc::string_ref>& names) {
    if (names.size() != 1) throw Error{unauthenticated, "the server's certificate names nobody"};
    const Identity identity = identity_of_address({names.front().data(), names.front().size()});
    if (identity.role != "coordinator") throw Error{unauthenticated, "the server is a {}, not a coordinator", identity.role};
  }
};

std::shared_ptr<grpc::ChannelCredentials> mutual_tls(const Credentials& credentials) {
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<tls::StaticDataCertificateProvider>(
      credentials.authority,
      std::vector<tls::IdentityKeyCertPair>{{.private_key = credentials.key, .certificate_chain = credentials.certificate}}));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_verify_server_certs(true);
  options.set_check_call_host(false);
  options.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<OnlyCoordinator>());
  return tls::TlsCredentials(options);
}

grpc::ChannelArguments settings() {
  grpc::ChannelArguments out;
  out.SetMaxReceiveMessageSize(kMaxMessageBytes);
  out.SetMaxSendMessageSize(kMaxMessageBytes);
  out.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  out.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  out.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  out.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  out.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytes);
  out.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  // A connection of its own, to the address that was asked for, tried again soon.
  out.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  out.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  out.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  out.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  out.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kHandshakeMs);  // in spite of its name: how long an attempt may take
  out.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10 * kReconnectMs);
  return out;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// Whether to try again may help; anything else is the server's answer.
bool is_passing(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::DEADLINE_EXCEEDED || code == grpc::StatusCode::CANCELLED;
}

// gRPC tells why a connection failed only in words.
void check_refusal(const std::string& address, const std::string& reason, int& hang_ups) {
  if (contains(reason, "SSL_ERROR_SSL") || contains(reason, "ertificate") || contains(reason, "verification"))
    throw Error{unauthenticated, "what listens at {} is not this job's coordinator, or the clocks differ by hours: {}", address, reason};
  // In TLS 1.3 a server that refuses a certificate hangs up after the handshake; one that is just ending does so once.
  if (contains(reason, "Socket closed") && ++hang_ups == kHangUps)
    throw Error{
        unauthenticated,
        "the coordinator at {} hangs up: this process's certificate is of another job or has expired; start it with this job's, and "
        "compare the clocks",
        address};
}

}  // namespace

struct Channel::State {
  std::string address;
  std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub stub;
  std::shared_ptr<OpenStreams> streams = std::make_shared<OpenStreams>();

  State(const std::string& to, const Credentials& credentials)
      : address(to), channel(grpc::CreateCustomChannel(to, mutual_tls(credentials), settings())), stub(channel) {}

  ~State() { streams->end_all(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  grpc::Status call(const std::string& method, std::string request, Seconds timeout, grpc::ByteBuffer& response) {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(timeout));
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(&context, kService.data() + method, buffer_of(std::move(request)), &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool done = false;
    queue.Next(&tag, &done);  // the deadline bounds it
    return status;
  }
};

Channel::Channel(std::unique_ptr<State> state) : state_(std::move(state)) {}
Channel::~Channel() = default;
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;

Channel Channel::connect(const std::string& address, const Credentials& credentials, Seconds timeout) {
  silence_grpc_log();
  if (credentials.certificate.empty() || credentials.key.empty())
    throw Error{unauthenticated, "cannot join the job at {} without a certificate and its key", address};
  const SteadyClock clock;
  const Seconds end = clock.now() + timeout;
  auto state = std::make_unique<State>(address, credentials);
  for (int hang_ups = 0;;) {
    const Seconds left = std::max(end - clock.now(), kLeastTry);
    grpc::ByteBuffer nothing;
    const grpc::Status status = state->call(std::string(kPing), "", std::min(left, kLongestTry), nothing);
    if (status.ok()) return Channel(std::move(state));
    if (!is_passing(status.error_code())) throw error_of(status);
    check_refusal(address, status.error_message(), hang_ups);
    if (clock.now() >= end)
      throw Error{unavailable, "cannot reach a coordinator at {} within {:g} s: {}", address, timeout.count(), status.error_message()};
    // Not a sleep: gRPC gets on with a connection only while somebody waits for it.
    state->channel->WaitForConnected(deadline_in(std::min(end - clock.now(), kRetryPause)));
  }
}

std::string Channel::call(const std::string& method, std::string request, Seconds timeout) {
  grpc::ByteBuffer response;
  const grpc::Status status = state_->call(method, std::move(request), timeout, response);
  if (status.ok()) return bytes_of(response);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && status.error_message() == "Deadline Exceeded")
    throw Error{deadline_exceeded, "the coordinator at {} has not answered '{}' within {:g} s", state_->address, method, timeout.count()};
  throw error_of(status);
}

std::shared_ptr<Session> Channel::open_session(const std::string& stream, SessionListener listener) {
  auto session = std::make_shared<ClientSession>(std::move(listener), state_->streams);
  session->start(state_->stub, kService.data() + stream);
  return session;
}

}  // namespace trireme::rpc
