// SPDX-License-Identifier: Apache-2.0
// Two counters that many threads add to and no thread waits for.
#include "trireme/base/traffic.h"

#include <atomic>

namespace trireme {
namespace {

std::atomic<std::int64_t> all_sent = 0;
std::atomic<std::int64_t> all_received = 0;

}  // namespace

Traffic traffic() { return {.sent = all_sent.load(std::memory_order_relaxed), .received = all_received.load(std::memory_order_relaxed)}; }

void count_sent(std::size_t bytes) { all_sent.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }

void count_received(std::size_t bytes) { all_received.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }

}  // namespace trireme
