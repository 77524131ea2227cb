// SPDX-License-Identifier: Apache-2.0
// A generic gRPC service with roles.
#include "trireme/rpc/server.h"

#include <arpa/inet.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <map>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/host.h"
#include "trireme/rpc/acceptor.h"
#include "trireme/rpc/grpc_bytes.h"
#include "trireme/rpc/handler_threads.h"
#include "trireme/rpc/open_streams.h"
#include "trireme/rpc/renewable_credentials.h"
#include "trireme/rpc/server_session.h"

namespace trireme::rpc {
namespace {

using Context = grpc::GenericCallbackServerContext;
using Reactor = grpc::ServerGenericBidiReactor;

constexpr int kHandshakeTimeoutMs = 5000;
constexpr int kStreamsPerConnection = 256;

Peer peer_of(const Context& context, bool is_plain) {
  if (is_plain) return {.identity = {.role = "node", .name = "plain"}, .address = context.peer()};
  const auto addresses = context.auth_context()->FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME);
  if (addresses.size() != 1) throw Error{unauthenticated, "the certificate names neither a coordinator nor a node"};
  return {.identity = identity_of_address({addresses.front().data(), addresses.front().size()}), .address = context.peer()};
}

class RefusedCall final : public Reactor {
 public:
  explicit RefusedCall(const Error& why) { Finish(status_of(why)); }
  void OnDone() override { delete this; }
};

// One request, one answer. gRPC calls OnDone after Finish, which always comes from the handler's thread.
class UnaryCall final : public Reactor {
 public:
  UnaryCall(const Server::Method& method, Peer peer, HandlerThreads& threads) : method_(method), peer_(std::move(peer)), threads_(threads) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish({grpc::StatusCode::INVALID_ARGUMENT, "a call without a request"});
    if (!threads_.run([this] { answer(); }))
      Finish({grpc::StatusCode::RESOURCE_EXHAUSTED,
              "the server is answering too many calls at once, or its machine grants no further threads; try again"});
  }
  void OnDone() override { delete this; }

 private:
  void answer() {
    try {
      response_ = buffer_of(method_.handler(peer_, bytes_of(request_)));
      if (response_.Length() > kMaxMessageBytes)
        throw Error{resource_exhausted, "the answer to '{}' has {} bytes; {} are allowed", method_.name, response_.Length(),
                    kMaxMessageBytes};
      StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
    } catch (const Error& error) {  // an RPC handler: becomes a status
      Finish(status_of(error));
    } catch (const std::exception& error) {  // an RPC handler: a foreign exception becomes a status, too
      Finish(status_of(Error{internal, "'{}' failed: {}", method_.name, error.what()}));
    }
  }

  const Server::Method& method_;
  const Peer peer_;
  HandlerThreads& threads_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

bool may_call(const std::vector<std::string>& roles, const Peer& peer) {
  return std::ranges::find(roles, peer.identity.role) != roles.end();
}

void check_role(const std::string& name, const std::vector<std::string>& roles, const Peer& peer) {
  if (!may_call(roles, peer))
    throw Error{permission_denied, "'{}' is not for the role {} (called by {})", name, peer.identity.role, peer.identity.name};
}

class Service final : public grpc::CallbackGenericService {
 public:
  Service(const Server::Options& options, Arrivals& arrivals)
      : is_plain_(options.plain_loopback), threads_(options.max_handlers), arrivals_(arrivals) {}

  void add(Server::Method method) {
    check_entry(method.name, method.roles);
    methods_.emplace(kService.data() + method.name, std::move(method));
  }
  void add(Server::Stream stream) {
    check_entry(stream.name, stream.roles);
    streams_.emplace(kService.data() + stream.name, std::move(stream));
  }
  void add(Server::BulkStream stream) {
    check_entry(stream.name, stream.roles);
    bulk_streams_.emplace(kService.data() + stream.name, std::move(stream));
  }

  std::vector<Server::Endpoint> endpoints() const {
    std::vector<Server::Endpoint> out;
    for (const auto& [path, method] : methods_) out.push_back({method.name, method.roles});
    for (const auto& [path, stream] : streams_) out.push_back({stream.name, stream.roles});
    for (const auto& [path, stream] : bulk_streams_) out.push_back({stream.name, stream.roles});
    return out;
  }

  Reactor* CreateReactor(Context* context) override {
    try {
      return reactor_for(*context);
    } catch (const Error& error) {  // an RPC handler: becomes a status
      return new RefusedCall(error);
    }
  }

  void await_notified() { open_->await_notified(); }

 private:
  void check_entry(const std::string& name, const std::vector<std::string>& roles) const {
    ensure(!roles.empty(), "every method says who may call it");
    const std::string path = kService.data() + name;
    ensure(!methods_.contains(path) && !streams_.contains(path) && !bulk_streams_.contains(path), "a method's name is used once");
  }

  Reactor* reactor_for(Context& context) {
    Peer peer = peer_of(context, is_plain_);
    arrivals_.proven(peer.address);
    if (const auto method = methods_.find(context.method()); method != methods_.end()) {
      check_role(method->second.name, method->second.roles, peer);
      return new UnaryCall(method->second, std::move(peer), threads_);
    }
    if (const auto stream = streams_.find(context.method()); stream != streams_.end())
      return open<Texts>(stream->second, peer, context, {});
    if (const auto stream = bulk_streams_.find(context.method()); stream != bulk_streams_.end())
      return open<Bulk>(stream->second, peer, context, stream->second.traffic);
    throw Error{unimplemented, "there is no method '{}'", context.method()};
  }

  template <class Kind, class Stream>
  Reactor* open(const Stream& stream, const Peer& peer, Context& context, std::shared_ptr<TrafficCounter> traffic) {
    check_role(stream.name, stream.roles, peer);
    auto end = std::make_shared<ServerEnd<Kind>>(&context, open_, std::move(traffic));
    end->start(stream.opened(peer, end));
    return end.get();
  }

  const bool is_plain_;
  HandlerThreads threads_;
  Arrivals& arrivals_;
  std::map<std::string, Server::Method> methods_;
  std::map<std::string, Server::Stream> streams_;
  std::map<std::string, Server::BulkStream> bulk_streams_;
  const std::shared_ptr<OpenStreams> open_ = std::make_shared<OpenStreams>();
};

void set_limits(grpc::ServerBuilder& builder, std::size_t memory) {
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.SetResourceQuota(grpc::ResourceQuota("trireme").Resize(memory));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
}

void set_keepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Nodes ping every 5 s; without this the server would take that for an attack.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveTimeMs / 2);
}

void prepare_bulk(grpc::ServerBuilder& builder) {
  keep_freed_blocks();
  set_for_bulk([&](const char* name, int value) { builder.AddChannelArgument(name, value); });
}

void check_address(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &v4) == 1;
  const bool is_v6 = ::inet_pton(AF_INET6, address.c_str(), &v6) == 1;
  if (!is_v4 && !is_v6) throw Error{invalid_argument, "cannot listen on '{}': it is not an IP address", address};
  if ((is_v4 && v4.s_addr == INADDR_ANY) || (is_v6 && IN6_IS_ADDR_UNSPECIFIED(&v6)))
    throw Error{invalid_argument, "cannot listen on '{}', which means every network of this machine: name the address of one", address};
}

void check(const Server::Options& options) {
  if (options.addresses.empty()) throw Error{invalid_argument, "a server needs an address to listen on"};
  std::ranges::for_each(options.addresses, check_address);
  if (options.plain_loopback) {
    if (!std::ranges::all_of(options.addresses, is_loopback))
      throw Error{invalid_argument, "a server without TLS listens only on addresses of loopback"};
    return;
  }
  const Identity identity = identity_of_certificate(options.credentials.certificate);
  if (identity.role != "coordinator" && identity.role != "node")
    throw Error{invalid_argument, "a server needs a coordinator's or a node's certificate, not one of the role {}", identity.role};
}

}  // namespace

bool is_loopback(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  return ::inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

struct Server::State {
  explicit State(Options options)
      : arrivals(options.report_stranger, clock, {}), service(options, arrivals), credentials(options.credentials) {
    prepare_grpc();
    check(options);
    for (Method& method : options.methods) service.add(std::move(method));
    for (Stream& stream : options.streams) service.add(std::move(stream));
    for (BulkStream& stream : options.bulk_streams) service.add(std::move(stream));
    service.add(Method{.name = std::string(kPing),
                       .roles = {"coordinator", "node", "user"},
                       .handler = [](const Peer&, const std::string&) { return std::string(); }});
    start(options, !options.bulk_streams.empty());
  }
  ~State() {
    acceptor.reset();
    server->Shutdown(std::chrono::system_clock::now());
    server.reset();
    service.await_notified();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start(const Options& options, bool has_bulk) {
    listeners.emplace(options.addresses, options.port);
    grpc::ServerBuilder builder;
    set_limits(builder, options.memory);
    set_keepalive(builder);
    if (has_bulk) prepare_bulk(builder);
    connections = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        options.plain_loopback ? grpc::InsecureServerCredentials() : credentials.mutual_tls());
    builder.RegisterCallbackGenericService(&service);
    server = builder.BuildAndStart();
    if (server == nullptr) throw Error{internal, "gRPC does not start its server"};
    acceptor.emplace(*listeners, arrivals, [this](int listener, int connection) { pass_on(listener, connection); });
  }

  void pass_on(int listener, int connection) const {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.listener_fd = listener;
    parameters.fd = connection;
    connections->HandleNewConnection(&parameters);
  }

  SteadyClock clock;
  Arrivals arrivals;
  Service service;
  RenewableCredentials credentials;  // outlives the server that asks it
  std::optional<Listeners> listeners;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections;
  std::unique_ptr<grpc::Server> server;  // ends before the service it calls
  std::optional<Acceptor> acceptor;
};

Server::Server(Options options) : state_(std::make_unique<State>(std::move(options))) {}
Server::~Server() = default;
void Server::renew(Credentials credentials) { state_->credentials.renew(std::move(credentials)); }
int Server::port() const { return state_->listeners->port(); }
std::vector<Server::Endpoint> Server::endpoints() const { return state_->service.endpoints(); }

}  // namespace trireme::rpc
