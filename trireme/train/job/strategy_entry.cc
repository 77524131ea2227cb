// SPDX-License-Identifier: Apache-2.0
// Looks up strategies by name.
#include "trireme/train/job/strategy_entry.h"

#include "trireme/base/catalog_lookup.h"

namespace trireme::train {

std::string_view name_of(Consistency consistency) { return consistency == Consistency::exact ? "exact" : "eventual"; }

std::string_view name_of(Exchange exchange) {
  switch (exchange) {
    case Exchange::none:
      return "none";
    case Exchange::all_reduce:
      return "all_reduce";
    case Exchange::servers:
      break;
  }
  return "servers";
}

const StrategyEntry& find_strategy(std::string_view name) { return find_entry(strategies::catalog(), name, "strategy"); }

}  // namespace trireme::train
