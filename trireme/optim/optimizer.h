// SPDX-License-Identifier: Apache-2.0
// An optimizer at work on a flat parameter space, or on any part of one; it owns none of the arrays.
#pragma once

#include <any>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/optim/optimizer_entry.h"
#include "trireme/tensor/parameter_space.h"

namespace trireme::optim {

class Optimizer {
 public:
  // `options` as the entry describes them; `space` must outlive the optimizer.
  Optimizer(const OptimizerEntry& entry, std::any options, const ParameterSpace& space);
  // From a table: key `name` chooses the entry, the other keys are its options.
  static Optimizer from_config(const Config& table, const ParameterSpace& space);

  const OptimizerEntry& entry() const { return entry_; }
  const std::any& options() const { return options_; }
  double learning_rate() const { return entry_.learning_rate(options_); }  // before any schedule
  std::vector<std::string_view> slots() const { return entry_.slots(options_); }

  // Updates values [offset, offset + span.parameters.size()) of the space; the spans hold just these. The result has
  // the same bits for any number of threads, any cut into ranges and any CPU. Ranges must begin and end at slice
  // boundaries if the entry has slice_rate.
  void update(std::int64_t offset, const UpdateSpan& span) const;

 private:
  void update_run(const UpdateSpan& span) const;
  void update_slices(std::int64_t offset, const UpdateSpan& span) const;

  const OptimizerEntry& entry_;
  std::any options_;
  const ParameterSpace& space_;
};

}  // namespace trireme::optim
