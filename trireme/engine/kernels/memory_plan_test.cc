// SPDX-License-Identifier: Apache-2.0
// Buffers that live at the same time never overlap, and memory is used again.
#include "trireme/engine/kernels/memory_plan.h"

#include <gtest/gtest.h>

#include "trireme/base/random.h"

namespace trireme::engine {
namespace {

TEST(MemoryPlan, NeverPutsTwoLivingBuffersAtOnePlace) {
  RandomStream random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<BufferLife> buffers;
    for (int i = 0; i < 60; ++i) {
      const std::size_t first = random.below(100);
      buffers.push_back({.bytes = 1 + random.below(100000), .first = first, .last = first + random.below(20)});
    }
    const MemoryPlan plan = plan_memory(buffers);
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_LE(plan.offsets[a] + buffers[a].bytes, plan.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        if (buffers[a].first > buffers[b].last || buffers[b].first > buffers[a].last) continue;
        EXPECT_TRUE(plan.offsets[a] + buffers[a].bytes <= plan.offsets[b] || plan.offsets[b] + buffers[b].bytes <= plan.offsets[a]);
      }
    }
  }
}

TEST(MemoryPlan, UsesMemoryAgain) {
  std::vector<BufferLife> chain;
  for (std::size_t i = 0; i < 100; ++i) chain.push_back({.bytes = 1 << 20, .first = i, .last = i + 1});
  EXPECT_LT(plan_memory(chain).bytes, std::size_t{3} << 20);
}

}  // namespace
}  // namespace trireme::engine
