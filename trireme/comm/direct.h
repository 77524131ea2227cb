// SPDX-License-Identifier: Apache-2.0
// The sum over all members in one or two messages between every two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trireme/comm/communicator.h"
#include "trireme/comm/links.h"

namespace trireme::comm {

// A ring takes 2 (n - 1) steps, each waiting for the one before; this takes two, whatever n is, and moves the same bytes: each member
// sums one part of the values and gives it to all others. Few values take one step: each member sends all to all.
// Members are added in order of ranks: the same bits every time. 16-bit values are added as f32 and rounded once.
class DirectReduction {
 public:
  explicit DirectReduction(Links& links) : links_(links) {}

  void run(std::span<float> values, WireType wire);
  void run(std::span<double> values);

 private:
  Links& links_;
  std::uint64_t calls_ = 0;
  std::vector<std::byte> wire_values_;  // both are kept, so that steps don't allocate
  std::vector<std::byte> received_;
};

}  // namespace trireme::comm
