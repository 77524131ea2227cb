// SPDX-License-Identifier: Apache-2.0
// Packet sockets in the switch's network, and frames that wait for their time.
#include "tests/hosts/packet_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <utility>

#include "tests/hosts/host_commands.h"
#include "trireme/base/error.h"
#include "trireme/base/process.h"

namespace trireme::tests {
namespace {

using Clock = std::chrono::steady_clock;

std::string own_end(const std::string& port) { return port + "in"; }
std::string bridge_end(const std::string& port) { return port + "out"; }

// A socket stays in the network that it was made in. With PACKET_VNET_HDR frames keep what the kernel knows of their checksums, which it
// has not computed yet, and their size, which may be that of many.
int socket_at(const std::string& space, const std::string& device) {
  int made = -1;
  std::jthread([&] {
    const int file = ::open(("/run/netns/" + space).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::setns(file, CLONE_NEWNET) != 0) return;
    ::close(file);
    made = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    const int room = 64 << 20;
    ::setsockopt(made, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on);
    ::setsockopt(made, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    ::setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    if (::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::close(std::exchange(made, -1));
  }).join();
  if (made < 0) throw Error{failed_precondition, "packet relay: no socket at {} of {}: {}", device, space, std::strerror(errno)};
  return made;
}

// The next frame, or an empty one.
std::string frame_of(int socket) {
  constexpr std::size_t kLongest = (64 << 10) + 256;
  std::string frame(kLongest, '\0');
  const ssize_t length = ::recv(socket, frame.data(), frame.size(), 0);
  frame.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return frame;
}

}  // namespace

PacketRelay::PacketRelay(std::string space, std::string port, PacketRelayOptions options)
    : space_(std::move(space)), port_(std::move(port)), options_(options) {
  must({"ip", "-n", space_, "link", "add", own_end(port_), "type", "veth", "peer", "name", bridge_end(port_)});
  for (const std::string& device : {own_end(port_), bridge_end(port_)}) must({"ip", "-n", space_, "link", "set", device, "up"});
  from_host_ = socket_at(space_, port_);
  from_bridge_ = socket_at(space_, own_end(port_));
  must({"ip", "-n", space_, "link", "set", port_, "nomaster"});
  must({"ip", "-n", space_, "link", "set", bridge_end(port_), "master", "br0"});
  thread_ = std::jthread([this](const std::stop_token& stop) { carry(stop); });
}

PacketRelay::~PacketRelay() {
  thread_ = {};
  for (const int socket : {from_host_, from_bridge_}) ::close(socket);
  run_process({"ip", "-n", space_, "link", "del", own_end(port_)}, kLimit);
  run_process({"ip", "-n", space_, "link", "set", port_, "master", "br0"}, kLimit);
}

void PacketRelay::carry(const std::stop_token& stop) const {
  std::multimap<Clock::time_point, std::string> waiting;  // of what the host has sent, by when it goes on
  std::minstd_rand random(1);
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> sockets{
        {{.fd = from_host_, .events = POLLIN, .revents = 0}, {.fd = from_bridge_, .events = POLLIN, .revents = 0}}};
    const auto next = waiting.empty() ? Clock::now() + std::chrono::milliseconds(20) : waiting.begin()->first;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    ::poll(sockets.data(), sockets.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 20)));
    for (std::string frame = frame_of(from_bridge_); !frame.empty(); frame = frame_of(from_bridge_))
      ::send(from_host_, frame.data(), frame.size(), 0);
    for (std::string frame = frame_of(from_host_); !frame.empty(); frame = frame_of(from_host_)) {
      const bool early = static_cast<int>(random() % 100) < options_.early_percent;
      waiting.emplace(Clock::now() + (early ? options_.delay / 2 : options_.delay), std::move(frame));
    }
    while (!waiting.empty() && waiting.begin()->first <= Clock::now()) {
      ::send(from_bridge_, waiting.begin()->second.data(), waiting.begin()->second.size(), 0);
      waiting.erase(waiting.begin());
    }
  }
}

}  // namespace trireme::tests
