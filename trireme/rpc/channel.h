// SPDX-License-Identifier: Apache-2.0
// A connection to a coordinator or a node that serves.
#pragma once

#include <memory>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/traffic.h"
#include "trireme/rpc/bulk.h"
#include "trireme/rpc/credentials.h"
#include "trireme/rpc/session.h"

namespace trireme::rpc {

// All calls may come from any thread.
class Channel {
 public:
  // Tries until the timeout while no process listens there (unavailable). Nothing is sent before the other side has proved with a
  // certificate of the same authority that it is whom we want (an empty name: any node of that role); if it can't, or if it does not
  // take this side's certificate, unauthenticated is thrown at once.
  static Channel connect(const std::string& address, const Credentials& credentials, Seconds timeout,
                         const Identity& whom = {.role = "coordinator", .name = ""});
  // To a server with plain_loopback, for benchmarks: neither side proves anything. Refused if the address is not of loopback.
  static Channel connect_plain(const std::string& address, Seconds timeout);
  // Ends its streams, and waits until their listeners have been notified: never to be called by one of them.
  ~Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;

  // Throws what the method threw; deadline_exceeded, unavailable if the connection broke.
  std::string call(const std::string& method, std::string request, Seconds timeout);
  // The stream lives until one end closes it, the connection breaks, or the channel ends.
  std::shared_ptr<Session> open_session(const std::string& stream, SessionListener listener);
  // `traffic` counts what passes; may be empty.
  std::shared_ptr<BulkSession> open_bulk(const std::string& stream, BulkListener listener, std::shared_ptr<TrafficCounter> traffic = {});

 private:
  struct State;
  explicit Channel(std::unique_ptr<State> state);
  static Channel connected(std::unique_ptr<State> state, Seconds timeout);
  std::unique_ptr<State> state_;
};

}  // namespace trireme::rpc
