// SPDX-License-Identifier: Apache-2.0
// Bytes that this process has exchanged with other nodes, counted where they pass.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme {

// Contents only: no headers of ours, of TLS or of TCP. Coordination (heartbeats, reports, checkpoints) does not count.
struct Traffic {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};

// Since the process began. One count for all connections: a caller that wants a part of it looks before and after.
Traffic traffic();
void count_sent(std::size_t bytes);
void count_received(std::size_t bytes);

}  // namespace trireme
