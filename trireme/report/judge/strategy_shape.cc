// SPDX-License-Identifier: Apache-2.0
// The short text of a strategy, taken apart.
#include "trireme/report/judge/strategy_shape.h"

#include <cstdlib>

namespace trireme::report {
namespace {

// Of "bsp", "ssp:4", "async": a bound of 0 makes ssp the same as bsp, whatever number stands behind bsp.
bool sums_pushes(std::string_view mode) {
  const std::string_view name = mode.substr(0, mode.find(':'));
  return name == "bsp" || (name == "ssp" && mode.substr(name.size()) == ":0");
}

}  // namespace

StrategyShape shape_of(std::string_view strategy) {
  using Kind = StrategyShape::Kind;
  const std::string head(strategy.substr(0, strategy.find(',')));
  StrategyShape shape{.name = head};
  if (strategy.find("wire=bf16") != std::string_view::npos || strategy.find("wire=f16") != std::string_view::npos)
    shape.bytes_per_value = 2;
  const std::string name = head.substr(0, head.find(':'));
  const std::string mode = head.size() > name.size() ? head.substr(name.size() + 1) : "";
  if (name == "local" || name.empty()) shape.kind = Kind::local;
  if (name == "allreduce") shape.kind = Kind::allreduce;
  if (name == "ps") {
    shape.kind = Kind::ps;
    shape.is_in_step = sums_pushes(mode);
  }
  if (name == "local_sgd") {
    shape.kind = Kind::local_sgd;
    const double steps = std::strtod(mode.c_str(), nullptr);
    shape.steps_between = steps >= 1 ? steps : 8;
  }
  return shape;
}

}  // namespace trireme::report
