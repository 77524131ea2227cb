// SPDX-License-Identifier: Apache-2.0
// What a strategy sends, from its short text: "allreduce,wire=bf16", "ps:async,servers=2,placement=dedicated", "local_sgd:8".
#pragma once

#include <string>
#include <string_view>

namespace trireme::report {

struct StrategyShape {
  enum class Kind { local, allreduce, ps, local_sgd, other };
  Kind kind = Kind::other;
  bool is_in_step = true;      // all workers make one update together
  double bytes_per_value = 4;  // on the wire
  double steps_between = 1;    // local_sgd: steps between two exchanges
  std::string name;            // "ps:async", without options
};

StrategyShape shape_of(std::string_view strategy);

}  // namespace trireme::report
