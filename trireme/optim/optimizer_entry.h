// SPDX-License-Identifier: Apache-2.0
// An optimizer of the catalogue: its options, the arrays it keeps beside the parameters, and its update of a run of them.
#pragma once

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/tensor/parameter_space.h"

namespace trireme::optim {

inline constexpr std::size_t kMaxSlots = 2;

// A run of the flat space; the spans in use have the same length. Slots start as zeros.
struct UpdateSpan {
  std::span<float> parameters;
  std::span<const float> gradients;
  std::array<std::span<float>, kMaxSlots> slots;
  double learning_rate = 0;
  std::int64_t step = 1;         // the first update is step 1
  const Slice* slice = nullptr;  // the slice this run is part of; only for entries with slice_rate
};

struct SliceNorms {  // L2, of a whole slice
  double parameters = 0;
  double gradients = 0;
};

struct OptimizerEntry {
  std::string_view name;
  std::string_view summary;
  OptionsType options;
  double (*learning_rate)(const std::any& options) = nullptr;
  std::vector<std::string_view> (*slots)(const std::any& options) = nullptr;  // their names, at most kMaxSlots
  // Each value depends only on its own gradient and slots, so a run may be cut anywhere; serial, the caller cuts.
  void (*update)(const std::any& options, const UpdateSpan& span) = nullptr;
  // Factor on the learning rate of a slice. Where it is given, only whole slices can be updated.
  double (*slice_rate)(const std::any& options, const Slice& slice, const SliceNorms& norms) = nullptr;
};

template <class Options>
double learning_rate_of(const std::any& options) {
  return std::any_cast<const Options&>(options).learning_rate;
}

namespace optimizers {
const std::vector<OptimizerEntry>& catalog();
}
// Throws invalid_argument with the nearest name if there is none.
const OptimizerEntry& find_optimizer(std::string_view name);

}  // namespace trireme::optim
