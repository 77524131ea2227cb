// SPDX-License-Identifier: Apache-2.0
// A node's streams to parameter servers, and those that lead to its own.
#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/host.h"
#include "trireme/rpc/bulk_pair.h"
#include "trireme/train/servers/parameter_servers.h"

namespace trireme::train {
namespace {

constexpr std::string_view kStream = "parameters";
constexpr Seconds kTry{2};  // to reach a server, before the next look whether it is still to be reached

// A server may die before it is reached: the next generation must not wait for the end of the timeout.
rpc::Channel reached(const std::string& address, const Team& team, const rpc::Identity& whom) {
  const SteadyClock clock;
  const Seconds end = clock.now() + team.timeout();
  for (;;) {
    const Neighbours& neighbours = team.neighbours();
    if (neighbours.cancellation) neighbours.cancellation->check();
    try {
      return rpc::Channel::connect(address, neighbours.credentials, std::min(kTry, end - clock.now()), whom);
    } catch (const Error& error) {  // not reached yet: tried again until the timeout
      if (error.code() != unavailable || clock.now() >= end) throw;
    }
  }
}

}  // namespace

void ParameterServers::listen() {
  const Neighbours& neighbours = setup_.team.neighbours();
  if (!held_->server || setup_.team.is_alone()) return;
  listener_.emplace(rpc::Server::Options{
      .addresses = {neighbours.address},
      .credentials = neighbours.credentials,
      .bulk_streams = {{.name = std::string(kStream),
                        .roles = {"node"},
                        .opened =
                            [server = &*held_->server](const rpc::Peer& peer, std::shared_ptr<rpc::BulkSession> session) {
                              return server->open(peer.identity.name, std::move(session));
                            },
                        .traffic = neighbours.traffic}},
      .report_stranger = neighbours.say});
  neighbours.store->set(fmt::format("parameters/{}", server_number()), join_host_port(neighbours.address, listener_->port()));
}

void ParameterServers::connect() {
  setup_.team.barrier();  // every server knows this generation's nodes
  is_connected_ = true;
  held_->client->connect(
      setup_.team.generation(), [this](int server, rpc::BulkListener listener) { return open_stream(server, std::move(listener)); },
      setup_.team.neighbours().cancellation);
}

std::shared_ptr<rpc::BulkSession> ParameterServers::open_stream(int server, rpc::BulkListener listener) {
  const Neighbours& neighbours = setup_.team.neighbours();
  const int rank = roles_.servers[static_cast<std::size_t>(server)];
  if (rank == setup_.team.rank())
    return rpc::bulk_pair(std::move(listener),
                          [&](std::shared_ptr<rpc::BulkSession> session) { return held_->server->open(own_name(), std::move(session)); });
  const std::string address = neighbours.store->get(fmt::format("parameters/{}", server), setup_.team.timeout());
  channels_.push_back(reached(address, setup_.team, {.role = "node", .name = neighbours.nodes[static_cast<std::size_t>(rank)]}));
  return channels_.back().open_bulk(std::string(kStream), std::move(listener), neighbours.traffic);
}

}  // namespace trireme::train
