// SPDX-License-Identifier: Apache-2.0
// Asks the system for a port and gives it back.
#include "trireme/rpc/free_port.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::rpc {
namespace {

int bound_port(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char port[8] = "0";
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), length, nullptr, 0, port, sizeof port, NI_NUMERICSERV);
  return std::stoi(port);
}

}  // namespace

int free_port(const std::string& address) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int reason = ::getaddrinfo(address.c_str(), "0", &hints, &found); reason != 0)
    throw Error{invalid_argument, "cannot listen on '{}': {}", address, ::gai_strerror(reason)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) throw_system_error(errno, "open a socket");
  const int reason = ::bind(socket, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  const int port = reason == 0 ? bound_port(socket) : 0;
  ::close(socket);
  if (reason != 0) throw_system_error(reason, fmt::format("listen on {}", address));
  return port;
}

}  // namespace trireme::rpc
