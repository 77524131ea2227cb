// SPDX-License-Identifier: Apache-2.0
// TCP's own measurement. A file of its own: the kernel's tcp_info has it, the C library's of the same name does not.
#include "trireme/comm/delivery_rate.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace trireme::comm {

double delivery_rate(const Socket& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  // Kernels before 4.9 have no such field.
  return size >= offsetof(tcp_info, tcpi_delivery_rate) + sizeof info.tcpi_delivery_rate ? static_cast<double>(info.tcpi_delivery_rate) : 0;
}

}  // namespace trireme::comm
