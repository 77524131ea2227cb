// SPDX-License-Identifier: Apache-2.0
// A slow way between a host and the switch, in user space: this kernel has no netem.
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace trireme::tests {

struct PacketRelayOptions {
  std::chrono::milliseconds delay{0};  // of every frame that the host sends
  int early_percent = 0;               // of them, that are held back for half as long: they overtake others
};

// Takes the host's port off the bridge `br0` and carries frames between the two by itself, until it ends. What goes to the host is not
// delayed.
class PacketRelay {
 public:
  PacketRelay(std::string space, std::string port, PacketRelayOptions options);
  ~PacketRelay();
  PacketRelay(const PacketRelay&) = delete;
  PacketRelay& operator=(const PacketRelay&) = delete;

 private:
  void carry(const std::stop_token& stop) const;

  std::string space_;
  std::string port_;
  PacketRelayOptions options_;
  int from_host_ = -1;  // sockets that see every frame of a device, and send such
  int from_bridge_ = -1;
  std::jthread thread_;
};

}  // namespace trireme::tests
