// SPDX-License-Identifier: Apache-2.0
// A loss: the mean over the samples, its gradient, and how many samples were right.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trireme/engine/executor.h"

namespace trireme::engine {

struct LossCall {
  std::int64_t samples = 0;
  std::int64_t outputs = 0;           // of a sample
  const float* prediction = nullptr;  // samples x outputs
  std::span<const std::int32_t> labels;
  std::span<const float> targets;
  std::span<const float> class_weights;  // by which a sample's loss is multiplied; empty: all count the same
  float* gradient = nullptr;             // samples x outputs, or null in evaluation
};

struct LossEntry {
  std::string_view name;
  bool uses_labels = false;  // else targets
  // Fills the gradient; sets loss and correct of the outcome.
  void (*compute)(const LossCall& call, Outcome& outcome) = nullptr;
};

namespace losses {
const std::vector<LossEntry>& catalog();
}
const LossEntry& find_loss(std::string_view name);

}  // namespace trireme::engine
