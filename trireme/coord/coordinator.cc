// SPDX-License-Identifier: Apache-2.0
// The coordinator: a roster, a store, and a server that leads nodes to them.
#include "trireme/coord/coordinator.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/host.h"
#include "trireme/coord/heartbeat.h"
#include "trireme/coord/roster.h"
#include "trireme/coord/wire_forms.h"
#include "trireme/rpc/server.h"

namespace trireme::coord {
namespace {

constexpr double kMaxWait = 600;         // in the store, whatever a node asks for
constexpr double kLooksPerSilence = 20;  // so that silence is noticed within a twentieth of its length
constexpr Seconds kFarewell{1};          // for the reason of the end to reach the nodes
using Callers = Coordinator::Method::Callers;

}  // namespace

struct Coordinator::State {
  explicit State(Options options)
      : addresses(options.addresses),
        renewal(options.renewal),
        warn(options.warn),
        clock(options.clock),
        renewed(clock->now()),
        own(options.credentials.certificate),
        roster(options, store, events),
        server(server_options(std::move(options))),
        looks(*clock, roster_silence / kLooksPerSilence, [this](Seconds late) { look(late); }) {}

  ~State() {
    store.end();
    roster.close_all(Error{unavailable, "the coordinator has ended"}, kFarewell);
    events.close();
  }

  rpc::Server::Options server_options(Options options) {
    roster_silence = options.silence;
    rpc::Server::Options out{.addresses = std::move(options.addresses),
                             .port = options.port,
                             .credentials = std::move(options.credentials),
                             .report_stranger = std::move(options.warn)};
    for (Method& method : options.methods) out.methods.push_back(guarded(std::move(method)));
    out.methods.push_back(store_method("store_set", &State::store_set));
    out.methods.push_back(store_method("store_get", &State::store_get));
    out.streams = {
        {.name = "membership", .roles = {"node"}, .opened = [this](const rpc::Peer& peer, std::shared_ptr<rpc::Session> session) {
           return roster.open(peer, std::move(session));
         }}};
    return out;
  }

  rpc::Server::Method guarded(Method method) {
    const std::string name = method.name;
    if (method.callers == Callers::users)
      return {.name = name, .roles = {"user"}, .handler = [method = std::move(method)](const rpc::Peer& peer, std::string request) {
                return method.handler(peer.identity.name, std::move(request));
              }};
    return {.name = name, .roles = {"node"}, .handler = [this, method = std::move(method)](const rpc::Peer& peer, std::string request) {
              roster.check_caller(peer.identity.name, take_stamp(request), method.callers);
              return method.handler(peer.identity.name, std::move(request));
            }};
  }

  rpc::Server::Method store_method(const std::string& name, std::string (State::*answer)(const Stamp&, const std::string&)) {
    return {.name = name, .roles = {"node"}, .handler = [this, answer](const rpc::Peer& peer, std::string request) {
              const Stamp stamp = take_stamp(request);
              roster.check_caller(peer.identity.name, stamp, Callers::members);
              return (this->*answer)(stamp, request);
            }};
  }

  std::string store_set(const Stamp& stamp, const std::string& request) {
    const auto asked = parsed<wire::StoreSet>(request);
    store.set(stamp, asked.key(), asked.value());
    return {};
  }

  std::string store_get(const Stamp& stamp, const std::string& request) {
    const auto asked = parsed<wire::StoreGet>(request);
    const double timeout = std::isfinite(asked.timeout()) ? std::clamp(asked.timeout(), 0.0, kMaxWait) : 0;
    return store.get(stamp, asked.key(), Seconds{timeout});
  }

  void look(Seconds late) {
    // A look that is a little late is the machine's business; one that is very late means that this process stood still.
    roster.look(clock->now(), late > roster_silence / 2 ? late : Seconds{0});
    if (renewal.issue) renew(clock->now());
  }

  void renew(Seconds now) {
    try {
      if (now - renewed >= renewal.validity / 2) {
        renewed = now - 0.45 * renewal.validity;  // if it fails it is tried again soon, but not at every look
        server.renew(renewal.issue(rpc::identity_of_certificate(own), addresses));
        renewed = now;
      }
      roster.renew(now, renewal.validity / 2, renewal);
    } catch (const Error& error) {  // on the thread that looks: the certificate is still good for half of its time
      if (warn) warn(fmt::format("a certificate could not be renewed, which is tried again: {}", error.what()));
    }
  }

  std::vector<std::string> addresses;
  const Renewal renewal;
  const std::function<void(const std::string&)> warn;
  const std::shared_ptr<const Clock> clock;
  Seconds renewed;        // when it was
  const std::string own;  // certificate, the first
  Seconds roster_silence{0};
  EventQueue<Event> events;
  FencedStore store;
  Roster roster;
  rpc::Server server;  // ends before what it calls
  Heartbeat looks;
};

Coordinator::Coordinator(Options options) : state_(std::make_unique<State>(std::move(options))) {}
Coordinator::~Coordinator() = default;

int Coordinator::port() const { return state_->server.port(); }

std::vector<std::string> Coordinator::addresses() const {
  std::vector<std::string> out;
  for (const std::string& address : state_->addresses) out.push_back(join_host_port(address, port()));
  return out;
}

std::vector<std::string> Coordinator::endpoints() const {
  std::vector<std::string> names;
  for (rpc::Server::Endpoint& endpoint : state_->server.endpoints()) names.push_back(std::move(endpoint.name));
  return names;
}

std::optional<Event> Coordinator::next_event(Seconds timeout) { return state_->events.next(timeout); }
void Coordinator::announce(const Generation& generation) { state_->roster.announce(generation); }

void Coordinator::send(const std::string& node, const Message& message) {
  wire::ToNode out;
  *out.mutable_message() = to_wire(message);
  state_->roster.send(node, out);
}

void Coordinator::broadcast(const Message& message) {
  wire::ToNode out;
  *out.mutable_message() = to_wire(message);
  state_->roster.send_to_members(out);
}

void Coordinator::dismiss(const std::string& node) { state_->roster.dismiss(node); }
void Coordinator::dismiss_all() {
  for (const std::string& node : nodes()) dismiss(node);
}

std::vector<std::string> Coordinator::nodes() const { return state_->roster.nodes(); }
Progress Coordinator::progress(const std::string& node) const { return state_->roster.progress(node); }
std::uint64_t Coordinator::refused_messages() const { return state_->roster.refused_messages(); }

}  // namespace trireme::coord
