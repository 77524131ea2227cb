// SPDX-License-Identifier: Apache-2.0
// For tests: an attacker on the path between two members, who reads everything and may change it.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/socket.h"

namespace trireme::comm {

// Passes on one connection after another.
class Relay {
 public:
  struct Options {
    std::size_t flip_at = 0;  // of what the caller sends on each connection: one bit of this byte is changed; 0: none
  };

  Relay(std::string to, Options options)
      : to_(std::move(to)), options_(options), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  std::string endpoint() const { return endpoint_of(listener_); }
  // All that went through so far, both ways.
  std::string captured() const {
    const std::lock_guard lock(mutex_);
    return captured_;
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd wanted{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0};
      if (::poll(&wanted, 1, 10) <= 0) continue;
      try {
        pass_on(stop, accept_from(listener_), connect_to(to_, Deadline(kTimeout)));
      } catch (const Error&) {  // one end has closed: so does the other
      }
    }
  }

  void pass_on(const std::stop_token& stop, const Socket& caller, const Socket& host) {
    std::size_t sent = 0;
    std::array<pollfd, 2> wanted{
        {{.fd = caller.descriptor(), .events = POLLIN, .revents = 0}, {.fd = host.descriptor(), .events = POLLIN, .revents = 0}}};
    while (!stop.stop_requested()) {
      ::poll(wanted.data(), wanted.size(), 10);
      if (wanted[0].revents != 0) {
        std::string bytes = receive_some(caller, kPiece);
        if (options_.flip_at > sent && options_.flip_at <= sent + bytes.size()) bytes[options_.flip_at - sent - 1] ^= 1;
        sent += bytes.size();
        forward(bytes, host);
      }
      if (wanted[1].revents != 0) forward(receive_some(host, kPiece), caller);
    }
  }

  void forward(const std::string& bytes, const Socket& to) {
    {
      const std::lock_guard lock(mutex_);
      captured_ += bytes;
    }
    send_exactly(to, bytes, Deadline(kTimeout));
  }

  static constexpr Seconds kTimeout{20};
  static constexpr std::size_t kPiece = 64 << 10;

  std::string to_;
  Options options_;
  Socket listener_ = listen_on("127.0.0.1");
  mutable std::mutex mutex_;
  std::string captured_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace trireme::comm
