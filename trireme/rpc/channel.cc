// SPDX-License-Identifier: Apache-2.0
// A generic gRPC client that talks only to whom it wants.
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
#include "trireme/rpc/validity.h"

namespace trireme::rpc {
namespace {

namespace tls = grpc::experimental;

constexpr Seconds kLeastTry{0.05};
constexpr Seconds kMaxTry{6};
constexpr int kHangUps = 3;
constexpr Seconds kRetryPause{0.5};
constexpr int kReconnectMs = 100;
constexpr int kHandshakeMs = 5000;

// "coordinator", "node 3"
std::string in_words(const Identity& identity) { return identity.name.empty() ? identity.role : identity.role + " " + identity.name; }

// The names of machines are not compared: a name is unique in a job, and its owner may be reached through a tunnel.
class Only final : public tls::ExternalCertificateVerifier {
 public:
  explicit Only(Identity whom) : whom_(std::move(whom)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>, grpc::Status* result) override {
    try {
      check(request->uri_names());
    } catch (const Error& error) {  // called by gRPC, which knows statuses only
      *result = status_of(error);
    }
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  void check(const std::vector<grpc::string_ref>& names) const {
    if (names.size() != 1) throw Error{unauthenticated, "the server's certificate names no identity"};
    const Identity identity = identity_of_address({names.front().data(), names.front().size()});
    if (identity.role != whom_.role || (!whom_.name.empty() && identity.name != whom_.name))
      throw Error{unauthenticated, "the server is {}, not {}", in_words(identity), in_words(whom_)};
  }

  const Identity whom_;
};

std::shared_ptr<grpc::ChannelCredentials> mutual_tls(const Credentials& credentials, const Identity& whom) {
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<tls::StaticDataCertificateProvider>(
      credentials.authority,
      std::vector<tls::IdentityKeyCertPair>{{.private_key = credentials.key, .certificate_chain = credentials.certificate}}));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_verify_server_certs(true);
  options.set_check_call_host(false);
  options.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<Only>(whom));
  return tls::TlsCredentials(options);
}

// Only nodes have bulk streams.
enum class Use { calls, bulk };

grpc::ChannelArguments settings(Use use) {
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
  if (use == Use::bulk) {
    keep_freed_blocks();
    set_for_bulk([&](const char* name, int value) { out.SetInt(name, value); });
  }
  return out;
}

// Of "127.0.0.1:4711", "[::1]:4711".
std::string host_of(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Whether to try again may help; anything else is the server's answer.
bool is_passing(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::DEADLINE_EXCEEDED || code == grpc::StatusCode::CANCELLED;
}

// gRPC says why a connection failed only in words. `clock` is what is wrong with this machine's clock, if anything is.
void check_refusal(const std::string& whom, const std::string& address, const std::string& reason, const std::string& clock,
                   int& hang_ups) {
  const bool is_refused = contains(reason, "SSL_ERROR_SSL") || contains(reason, "ertificate") || contains(reason, "verification");
  // In TLS 1.3 a server that refuses a certificate hangs up after the handshake; one that is just ending does so once.
  const bool hangs_up = contains(reason, "Socket closed") && ++hang_ups == kHangUps;
  if (!clock.empty() && (is_refused || hangs_up)) throw Error{unauthenticated, "cannot join the {} at {}: {}", whom, address, clock};
  if (is_refused)
    throw Error{unauthenticated, "what listens at {} is not this job's {}, or the clocks differ by hours: {}", address, whom, reason};
  if (hangs_up)
    throw Error{unauthenticated,
                "the {} at {} hangs up: this process's certificate is of another job or has expired; start it with this job's, and "
                "compare the clocks",
                whom, address};
}

}  // namespace

struct Channel::State {
  const std::string address;
  const std::string whom;         // in words
  const std::string certificate;  // this side's; empty: a plain connection
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<grpc::GenericStub> stub;
  const std::shared_ptr<OpenStreams> streams = std::make_shared<OpenStreams>();

  State(std::string to, std::string expected, std::string own, const std::shared_ptr<grpc::ChannelCredentials>& credentials, Use use)
      : address(std::move(to)),
        whom(std::move(expected)),
        certificate(std::move(own)),
        channel(grpc::CreateCustomChannel(address, credentials, settings(use))),
        stub(std::make_unique<grpc::GenericStub>(channel)) {}

  // With its channel gRPC lets go of what a connection still wanted to send, and only then the last listeners learn of the end.
  ~State() {
    streams->end_all();
    stub.reset();
    channel.reset();
    streams->await_notified();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::string clock_fault() const { return certificate.empty() ? "" : rpc::clock_fault(certificate, std::time(nullptr)); }

  grpc::Status call(const std::string& method, std::string request, Seconds timeout, grpc::ByteBuffer& response) const {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(timeout));
    grpc::CompletionQueue queue;
    const auto call = stub->PrepareUnaryCall(&context, kService.data() + method, buffer_of(std::move(request)), &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool done = false;
    queue.Next(&tag, &done);  // the deadline bounds it
    return status;
  }

  template <class Kind>
  std::shared_ptr<ClientEnd<Kind>> open(const std::string& stream, typename Kind::Listener listener,
                                        std::shared_ptr<TrafficCounter> traffic) {
    auto end = std::make_shared<ClientEnd<Kind>>(streams, std::move(traffic));
    end->start(*stub, kService.data() + stream, std::move(listener));
    return end;
  }
};

Channel::Channel(std::unique_ptr<State> state) : state_(std::move(state)) {}
Channel::~Channel() = default;
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;

Channel Channel::connect(const std::string& address, const Credentials& credentials, Seconds timeout, const Identity& whom) {
  if (credentials.certificate.empty() || credentials.key.empty())
    throw Error{unauthenticated, "cannot join the job at {} without a certificate and its key", address};
  const Use use = whom.role == "node" ? Use::bulk : Use::calls;
  return connected(std::make_unique<State>(address, in_words(whom), credentials.certificate, mutual_tls(credentials, whom), use), timeout);
}

Channel Channel::connect_plain(const std::string& address, Seconds timeout) {
  if (!is_loopback(host_of(address)))
    throw Error{invalid_argument, "cannot talk to {} without TLS: it is not an address of loopback", address};
  return connected(std::make_unique<State>(address, "server", "", grpc::InsecureChannelCredentials(), Use::bulk), timeout);
}

Channel Channel::connected(std::unique_ptr<State> state, Seconds timeout) {
  prepare_grpc();
  const SteadyClock clock;
  const Seconds end = clock.now() + timeout;
  for (int hang_ups = 0;;) {
    const Seconds left = std::max(end - clock.now(), kLeastTry);
    grpc::ByteBuffer nothing;
    const grpc::Status status = state->call(std::string(kPing), "", std::min(left, kMaxTry), nothing);
    if (status.ok()) return Channel(std::move(state));
    if (!is_passing(status.error_code())) throw error_of(status);
    check_refusal(state->whom, state->address, status.error_message(), state->clock_fault(), hang_ups);
    if (clock.now() >= end)
      throw Error{unavailable,           "cannot reach the {} at {} within {:g} s: {}", state->whom, state->address, timeout.count(),
                  status.error_message()};
    // Not a sleep: gRPC gets on with a connection only while a thread waits for it.
    state->channel->WaitForConnected(deadline_in(std::min(end - clock.now(), kRetryPause)));
  }
}

std::string Channel::call(const std::string& method, std::string request, Seconds timeout) {
  grpc::ByteBuffer response;
  const grpc::Status status = state_->call(method, std::move(request), timeout, response);
  if (status.ok()) return bytes_of(response);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && status.error_message() == "Deadline Exceeded")
    throw Error{deadline_exceeded, "the {} at {} has not answered '{}' within {:g} s", state_->whom, state_->address, method,
                timeout.count()};
  throw error_of(status);
}

std::shared_ptr<Session> Channel::open_session(const std::string& stream, SessionListener listener) {
  return state_->open<Texts>(stream, std::move(listener), {});
}

std::shared_ptr<BulkSession> Channel::open_bulk(const std::string& stream, BulkListener listener, std::shared_ptr<TrafficCounter> traffic) {
  return state_->open<Bulk>(stream, std::move(listener), std::move(traffic));
}

}  // namespace trireme::rpc
