// SPDX-License-Identifier: Apache-2.0
// Bytes that a node has exchanged with others, counted where they pass.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trireme {

// Contents only: no headers of ours, of TLS or of TCP. Coordination (heartbeats, reports, checkpoints) does not count.
struct Traffic {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};

// A node has one, and hands it to its connections. Many threads add to it and none waits for it.
class TrafficCounter {
 public:
  void count_sent(std::size_t bytes) { sent_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }
  void count_received(std::size_t bytes) { received_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }
  // Since it was made: for a part of it, look before and after.
  Traffic total() const { return {.sent = sent_.load(std::memory_order_relaxed), .received = received_.load(std::memory_order_relaxed)}; }

 private:
  std::atomic<std::int64_t> sent_ = 0;
  std::atomic<std::int64_t> received_ = 0;
};

}  // namespace trireme
