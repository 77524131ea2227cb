// SPDX-License-Identifier: Apache-2.0
// TCP sockets that close themselves and never wait past their deadline.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trireme/comm/deadline.h"

namespace trireme::comm {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  int descriptor() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// "host port", both as numbers: what the others connect to.
std::string endpoint_of(const Socket& socket);
// "host port" of the other end, for messages.
std::string peer_of(const Socket& socket);

// Whether two endpoints are of one machine for certain: both have loopback addresses, or the same one. The kernel takes no packet with such
// a sender from a network.
bool are_on_one_machine(std::string_view endpoint, std::string_view other);

// All are non-blocking. Errors: cancelled if the deadline's owner says so, invalid_argument for an address that is not this machine's,
// unavailable if no process answers.
Socket listen_on(const std::string& address);
Socket connect_to(const std::string& endpoint, const Deadline& deadline);
// Not open if no connection has come.
Socket accept_from(const Socket& listener);

// False if something was sent and the other machine has acknowledged nothing for so long: it is gone, or cut off. A process that
// only does not read is no such case.
bool is_answered(const Socket& socket, Seconds within);

// Both or nothing: unavailable if the peer closes before, deadline_exceeded if it keeps silent.
void send_exactly(const Socket& socket, std::string_view bytes, const Deadline& deadline);
std::string receive_exactly(const Socket& socket, std::size_t count, const Deadline& deadline);

// What has arrived of at most `count` bytes; unavailable if the peer has closed.
std::string receive_some(const Socket& socket, std::size_t count);

}  // namespace trireme::comm
