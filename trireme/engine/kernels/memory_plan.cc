// SPDX-License-Identifier: Apache-2.0
// Greedy placement of buffers by size.
#include "trireme/engine/kernels/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace trireme::engine {
namespace {

// Buffers begin a few lines apart from a power of two, or equal offsets in several large tensors would share cache sets.
constexpr std::size_t kAlign = 256;
constexpr std::size_t kStagger = 1280;

bool overlap(const BufferLife& a, const BufferLife& b) { return a.first <= b.last && b.first <= a.last; }

struct Placed {
  std::size_t offset;
  std::size_t end;
  std::size_t buffer;
};

// The lowest gap of `bytes` between the placed buffers that live at the same time.
std::size_t lowest_gap(const std::vector<Placed>& placed, const std::vector<BufferLife>& buffers, std::size_t buffer, std::size_t bytes) {
  std::size_t offset = 0;
  for (const Placed& other : placed) {
    if (!overlap(buffers[other.buffer], buffers[buffer])) continue;
    if (offset + bytes <= other.offset) break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<BufferLife>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  MemoryPlan plan{.offsets = std::vector<std::size_t>(buffers.size())};
  std::vector<Placed> placed;  // by offset
  for (const std::size_t buffer : order) {
    const std::size_t bytes = (buffers[buffer].bytes + kAlign - 1) / kAlign * kAlign + kStagger;
    const std::size_t offset = lowest_gap(placed, buffers, buffer, bytes);
    const Placed entry{offset, offset + bytes, buffer};
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), entry, [](const Placed& a, const Placed& b) { return a.offset < b.offset; }), entry);
    plan.offsets[buffer] = offset;
    plan.bytes = std::max(plan.bytes, entry.end);
  }
  return plan;
}

}  // namespace trireme::engine
