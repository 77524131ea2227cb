// SPDX-License-Identifier: Apache-2.0
// Places buffers in one arena so that buffers alive at the same time never overlap.
#pragma once

#include <cstddef>
#include <vector>

namespace trireme::engine {

struct BufferLife {
  std::size_t bytes = 0;
  std::size_t first = 0;  // steps that touch it, both included
  std::size_t last = 0;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};

// Largest first, each at the lowest place that is free over its whole life.
MemoryPlan plan_memory(const std::vector<BufferLife>& buffers);

}  // namespace trireme::engine
