// SPDX-License-Identifier: Apache-2.0
// Resolves, binds, listens and accepts; resets connections that may not wait.
#include "trireme/rpc/acceptor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/host.h"
#include "trireme/rpc/grpc_bytes.h"

namespace trireme::rpc {
namespace {

constexpr int kPortTries = 20;
constexpr int kLookMs = 500;
constexpr int kAtOnce = 64;       // then those who wait for something else get their turn
constexpr int kShortageMs = 100;  // no descriptors left: wait for some to come back

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses resolve(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int reason = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found); reason != 0)
    throw Error{invalid_argument, "cannot listen on '{}': {}", address, ::gai_strerror(reason)};
  return {found, ::freeaddrinfo};
}

void set(int socket, int level, int option, int value) { ::setsockopt(socket, level, option, &value, sizeof value); }

int listen_on(const std::string& address, int port) {
  const Addresses found = resolve(address, port);
  const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) throw_system_error(errno, "open a socket");
  set(socket, SOL_SOCKET, SO_REUSEADDR, 1);  // connections of an ended coordinator linger on its port
  if (found->ai_family == AF_INET6) set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket, found->ai_addr, found->ai_addrlen) == 0 && ::listen(socket, SOMAXCONN) == 0) return socket;
  const int reason = errno;
  ::close(socket);
  errno = reason;
  return -1;
}

struct Name {
  std::string host, port;
};

Name in_numbers(const sockaddr_storage& address, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(), port.data(), port.size(),
                NI_NUMERICHOST | NI_NUMERICSERV);
  return {host.data(), port.data()};
}

// So that nothing of it lingers here.
void reset(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(socket);
}

// As gRPC does with connections that it accepts itself.
void prepare(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kKeepaliveTimeoutMs);
}

}  // namespace

Listeners::Listeners(const std::vector<std::string>& addresses, int port) {
  int tries = port == 0 ? kPortTries : 1;
  while (tries > 0 && !open(addresses, port)) --tries;
  if (tries > 0) return;
  const std::string where = fmt::format("{} of {}", port == 0 ? "a port" : fmt::format("port {}", port), fmt::join(addresses, ", "));
  throw SystemError{unavailable, "cannot listen on {}: {}", where,
                    errno == EADDRINUSE ? "it is in use; choose another, or end what listens there" : std::strerror(errno)};
}

Listeners::~Listeners() { close(); }

// The first address finds the port, the others must have it too.
bool Listeners::open(const std::vector<std::string>& addresses, int port) {
  port_ = port;
  for (const std::string& address : addresses) {  // NOLINT(readability-use-anyofallof): each one opens a socket
    const int socket = listen_on(address, port_);
    if (socket < 0) {
      const int reason = errno;
      close();
      errno = reason;
      return false;
    }
    descriptors_.push_back(socket);
    port_ = bound_port(socket);
  }
  return true;
}

void Listeners::close() {
  for (const int socket : descriptors_) ::close(socket);
  descriptors_.clear();
}

Acceptor::Acceptor(const Listeners& listeners, Arrivals& arrivals, PassOn pass_on)
    : listeners_(listeners), arrivals_(arrivals), pass_on_(std::move(pass_on)), wake_(::eventfd(0, EFD_CLOEXEC)) {
  if (wake_ < 0) throw_system_error(errno, "open an event");
  thread_ = std::thread([this] { run(); });
}

Acceptor::~Acceptor() {
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
}

void Acceptor::run() {
  std::vector<pollfd> wanted{{.fd = wake_, .events = POLLIN, .revents = 0}};
  for (const int listener : listeners_.descriptors()) wanted.push_back({.fd = listener, .events = POLLIN, .revents = 0});
  for (;;) {
    ::poll(wanted.data(), wanted.size(), kLookMs);
    if (wanted.front().revents != 0) return;
    for (std::size_t i = 1; i < wanted.size(); ++i)
      if (wanted[i].revents != 0) accept_some(wanted[i].fd);
    arrivals_.look();
  }
}

void Acceptor::accept_some(int listener) {
  for (int i = 0; i < kAtOnce; ++i) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    const int socket = ::accept4(listener, reinterpret_cast<sockaddr*>(&address), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
      std::this_thread::sleep_for(std::chrono::milliseconds(kShortageMs));
    if (socket < 0) return;
    const Name peer = in_numbers(address, length);
    if (!arrivals_.admit(peer.host, peer.port)) {
      reset(socket);
      continue;
    }
    prepare(socket);
    pass_on_(listener, socket);
  }
}

}  // namespace trireme::rpc
