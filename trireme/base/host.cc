// SPDX-License-Identifier: Apache-2.0
// Asked of the system.
#include "trireme/base/host.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "trireme/base/error.h"

namespace trireme {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string join_host_port(std::string_view address, std::int64_t port) { return join_host_port(address, fmt::format("{}", port)); }

std::string join_host_port(std::string_view address, std::string_view port) {
  return address.find(':') == std::string_view::npos ? fmt::format("{}:{}", address, port) : fmt::format("[{}]:{}", address, port);
}

int bound_port(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ensure(::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) == 0, "a bound socket has a name");
  return own.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6&>(own).sin6_port)
                                   : ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

}  // namespace trireme
