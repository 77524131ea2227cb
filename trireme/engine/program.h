// SPDX-License-Identifier: Apache-2.0
// What a graph is lowered to: buffers, and steps that run one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trireme/engine/executor.h"

namespace trireme::engine {

using BufferId = std::size_t;

// What the caller hands in for one run of the steps.
struct Call {
  const BatchView* batch = nullptr;
  ModelView model;
  Outcome* outcome = nullptr;
};

// Where the memory plan has put each buffer.
class Addresses {
 public:
  Addresses(std::byte* arena, std::vector<std::size_t> offsets) : arena_(arena), offsets_(std::move(offsets)) {}
  std::byte* bytes(BufferId id) const { return arena_ + offsets_[id]; }
  float* floats(BufferId id) const { return reinterpret_cast<float*>(bytes(id)); }
  std::uint32_t* words(BufferId id) const { return reinterpret_cast<std::uint32_t*>(bytes(id)); }

 private:
  std::byte* arena_;
  std::vector<std::size_t> offsets_;
};

using Run = std::function<void(const Call&)>;

struct Step {
  std::string name;
  std::string category;
  std::vector<BufferId> uses;                 // all buffers it reads or writes: their lives come from here
  std::function<Run(const Addresses&)> bind;  // called once, when the addresses are known
  std::vector<std::size_t> ready;             // slices whose gradient is complete after it (before the penalty)
};

struct Program {
  std::vector<std::size_t> buffer_bytes;
  std::vector<Step> steps;
};

}  // namespace trireme::engine
