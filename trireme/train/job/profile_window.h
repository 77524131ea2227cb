// SPDX-License-Identifier: Apache-2.0
// Which steps of a training are profiled, as [observe] profile says it.
#pragma once

#include <cstdint>
#include <string_view>

namespace trireme::train {

struct ProfileWindow {
  enum class Unit { none, steps, epochs };
  Unit unit = Unit::none;
  std::int64_t first = 0;  // both are counted from 1 and included
  std::int64_t last = 0;

  bool is_on() const { return unit != Unit::none; }
  // `step` is counted from 1, `epoch` from 0, as in StepRecord.
  bool contains(std::int64_t step, std::int64_t epoch) const {
    const std::int64_t number = unit == Unit::steps ? step : epoch + 1;
    return is_on() && number >= first && number <= last;
  }
};

// "steps 100-119", "epochs 2-3", "steps 7"; empty: none. Throws invalid_argument.
ProfileWindow parse_profile(std::string_view text);

}  // namespace trireme::train
