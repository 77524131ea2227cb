// SPDX-License-Identifier: Apache-2.0
// Which buffers add up to a tensor's gradient, and which of them may be overwritten.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "trireme/engine/program.h"
#include "trireme/engine/tensor.h"

namespace trireme::engine {

// A gradient is a sum of terms, one from each reader. One buffer can be a term of several tensors (an addition hands its
// gradient to both operands), so it may be overwritten only when the others are done with it.
class GradientBook {
 public:
  void add_term(TensorId tensor, BufferId buffer);
  const std::vector<BufferId>& terms(TensorId tensor) const;
  void replace_terms(TensorId tensor, BufferId by);

  // A term that only this tensor will read any more.
  std::optional<BufferId> overwritable_term(TensorId tensor) const;
  // The tensor's producer has been lowered backward: its terms are read.
  void close(TensorId tensor);
  // Keeps a buffer from being overwritten for a reader that comes later.
  void hold(BufferId buffer) { ++readers_[buffer]; }
  void release(BufferId buffer) { --readers_[buffer]; }
  bool only_held_once(BufferId buffer) const { return readers_.at(buffer) == 1; }

 private:
  std::map<TensorId, std::vector<BufferId>> terms_;
  std::map<BufferId, int> readers_;  // tensors that still need the buffer
};

}  // namespace trireme::engine
