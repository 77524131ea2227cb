// SPDX-License-Identifier: Apache-2.0
// The system calls behind socket.h.
#include "trireme/comm/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "trireme/base/error.h"

namespace trireme::comm {
namespace {

constexpr int kBacklog = 128;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& host, const char* port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int fault = getaddrinfo(host.c_str(), port, &hints, &found);
  if (fault != 0) throw Error{invalid_argument, "cannot find the address '{}': {}", host, gai_strerror(fault)};
  return {found, &freeaddrinfo};
}

Socket open_for(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol));
  if (!socket.open()) throw Error{resource_exhausted, "cannot open a socket: {}", std::strerror(errno)};
  return socket;
}

// bbr paces what it sends: with two processes on loopback an all-reduce of 16 MB and more took up to twice the CPU time (measured; with
// four there was no clear difference). The others don't.
void avoid_pacing(const Socket& socket) {
  std::array<char, 16> name{};
  socklen_t length = name.size();
  ::getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length);
  if (!std::string_view(name.data()).starts_with("bbr")) return;
  for (const std::string_view other : {"cubic", "reno"})  // cubic may not be allowed; reno always is
    if (::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, other.data(), other.size()) == 0) return;
}

void set_option(const Socket& socket, int level, int option, int value) {
  ::setsockopt(socket.descriptor(), level, option, &value, sizeof(value));
}

// While nothing is sent, probes find out whether the other machine is still there. TCP_USER_TIMEOUT would do the same while something
// is, but it also ends a connection to a peer that computes for long and reads nothing meanwhile.
void probe_while_idle(const Socket& socket) {
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 5);
}

void prepare(const Socket& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);  // small messages must not wait for an acknowledgement of the one before
  probe_while_idle(socket);
  avoid_pacing(socket);
}

// Whether it is ready before the deadline.
bool ready(const Socket& socket, short events, const Deadline& deadline) {
  std::array<pollfd, 2> wanted{{{.fd = socket.descriptor(), .events = events, .revents = 0},
                                {.fd = deadline.cancellation_descriptor(), .events = POLLIN, .revents = 0}}};
  const int count = ::poll(wanted.data(), wanted.size(), static_cast<int>(milliseconds_of(deadline.left()).count()));
  deadline.check_cancellation();
  return count > 0 || (count < 0 && errno == EINTR && !deadline.passed());
}

bool try_again() { return errno == EAGAIN || errno == EINTR; }

[[noreturn]] void closed(const char* why) { throw Error{unavailable, "the connection is closed ({})", why}; }

void wait_for(const Socket& socket, short events, const Deadline& deadline) {
  if (!ready(socket, events, deadline)) throw Error{deadline_exceeded, "the peer keeps silent"};
}

bool is_any_address(const sockaddr* address) {
  if (address->sa_family == AF_INET) return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_ANY);
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, &in6addr_any, sizeof(in6addr_any)) == 0;
}

std::string in_numbers(const sockaddr_storage& address, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  ensure(getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(), port.data(), port.size(),
                     NI_NUMERICHOST | NI_NUMERICSERV) == 0,
         "an address can be written as numbers");
  return fmt::format("{} {}", host.data(), port.data());
}

}  // namespace

Socket::~Socket() {
  if (open()) ::close(descriptor_);
}

std::string endpoint_of(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  ensure(::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &length) == 0, "a bound socket has a name");
  return in_numbers(address, length);
}

std::string peer_of(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  const bool known = ::getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &length) == 0;
  return known ? in_numbers(address, length) : "an address that is gone already";
}

bool are_on_one_machine(std::string_view endpoint, std::string_view other) {
  const auto host = [](std::string_view text) { return text.substr(0, text.find(' ')); };
  const auto is_loopback = [](std::string_view address) { return address.starts_with("127.") || address == "::1"; };
  return host(endpoint) == host(other) || (is_loopback(host(endpoint)) && is_loopback(host(other)));
}

Socket listen_on(const std::string& address) {
  const Addresses found = resolve(address, nullptr, 0);
  if (is_any_address(found->ai_addr))
    throw Error{invalid_argument, "will not listen on all interfaces ('{}'); give the address of the one the others reach", address};
  Socket socket = open_for(*found);
  if (::bind(socket.descriptor(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket.descriptor(), kBacklog) != 0)
    throw Error{invalid_argument, "cannot listen on '{}': {}; give an address of one of this machine's interfaces", address,
                std::strerror(errno)};
  return socket;
}

Socket connect_to(const std::string& endpoint, const Deadline& deadline) {
  const std::size_t blank = endpoint.find(' ');
  if (blank == std::string::npos) throw Error{invalid_argument, "'{}' is no endpoint", endpoint};
  const Addresses found = resolve(endpoint.substr(0, blank), endpoint.c_str() + blank + 1, AI_NUMERICHOST | AI_NUMERICSERV);
  Socket socket = open_for(*found);
  int fault = ::connect(socket.descriptor(), found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  if (fault == EINPROGRESS) {
    wait_for(socket, POLLOUT, deadline);
    socklen_t length = sizeof(fault);
    ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &fault, &length);
  }
  if (fault != 0) throw Error{unavailable, "cannot connect to {}: {}", endpoint, std::strerror(fault)};
  prepare(socket);
  return socket;
}

Socket accept_from(const Socket& listener) {
  Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.open()) prepare(socket);
  return socket;
}

bool is_answered(const Socket& socket, Seconds within) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return true;
  return info.tcpi_unacked == 0 || info.tcpi_last_ack_recv < within.count() * 1000;
}

void send_exactly(const Socket& socket, std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && !try_again()) closed(std::strerror(errno));
    if (sent < 0) wait_for(socket, POLLOUT, deadline);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string receive_exactly(const Socket& socket, std::size_t count, const Deadline& deadline) {
  std::string out;
  while (out.size() < count) {
    const std::string more = receive_some(socket, count - out.size());
    if (more.empty()) wait_for(socket, POLLIN, deadline);
    out += more;
  }
  return out;
}

std::string receive_some(const Socket& socket, std::size_t count) {
  std::string out(count, '\0');
  const ssize_t got = ::recv(socket.descriptor(), out.data(), out.size(), 0);
  if (got == 0) closed("by the peer");
  if (got < 0 && !try_again()) closed(std::strerror(errno));
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

}  // namespace trireme::comm
