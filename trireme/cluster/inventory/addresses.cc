// SPDX-License-Identifier: Apache-2.0
// The kernel's routing table, asked by connecting a datagram socket.
#include "trireme/cluster/inventory/addresses.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(host.c_str(), "9", &hints, &found);
  if (fault != 0) throw Error{unavailable, "{}: {}; is the name right, and known to this machine?", host, gai_strerror(fault)};
  return {found, freeaddrinfo};
}

class Socket {
 public:
  Socket(int family, int kind) : descriptor_(::socket(family, kind | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::string address_towards(const std::string& host) {
  const AddressList found = look_up(host);
  const Socket socket(found->ai_family, SOCK_DGRAM);
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  if (socket.descriptor() < 0 || ::connect(socket.descriptor(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&own), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    throw Error{unavailable, "{}: no way there from this machine: {}", host, std::strerror(errno)};
  return text.data();
}

std::string without_port(const std::string& endpoint) {
  const std::string address = endpoint.substr(0, endpoint.rfind(':'));
  return address.starts_with('[') ? address.substr(1, address.size() - 2) : address;
}

}  // namespace trireme::cluster
