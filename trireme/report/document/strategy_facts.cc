// SPDX-License-Identifier: Apache-2.0
// Names of the ways to exchange, as the journal has them.
#include "trireme/report/document/strategy_facts.h"

namespace trireme::report {

StrategyFacts::Exchange exchange_of(std::string_view name) {
  using Exchange = StrategyFacts::Exchange;
  if (name == "none") return Exchange::none;
  if (name == "all_reduce") return Exchange::all_reduce;
  return name == "servers" ? Exchange::servers : Exchange::unknown;
}

}  // namespace trireme::report
