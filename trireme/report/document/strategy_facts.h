// SPDX-License-Identifier: Apache-2.0
// What a strategy sends in a step, as the run recorded it: the strategy's own entry states it, nothing is known here by its name.
#pragma once

#include <string>
#include <string_view>

namespace trireme::report {

struct StrategyFacts {
  enum class Exchange { unknown, none, all_reduce, servers };
  std::string strategy;                   // short text: "ps:async,servers=2"
  Exchange exchange = Exchange::unknown;  // runs of older versions don't record it
  bool is_joint = true;                   // all workers make one update together
  double bytes_per_value = 4;             // on the wire
  double steps_between = 1;               // two exchanges
  double buckets = 1;                     // into which an exchange is cut
  bool has_overlap = false;               // buckets are exchanged while backward still runs
  bool sends_slots = false;               // of the optimizer, beside the parameters
  bool servers_compute = false;

  bool uses_servers() const { return exchange == Exchange::servers; }
};

// Of "none", "all_reduce" or "servers".
StrategyFacts::Exchange exchange_of(std::string_view name);

}  // namespace trireme::report
