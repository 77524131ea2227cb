// SPDX-License-Identifier: Apache-2.0
// A strategy with its options on one line: "allreduce", "ps:ssp:4", "ps:async,servers=2,placement=dedicated".
#pragma once

#include <any>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/tensor/parameter_space.h"

namespace trireme::train {

struct StrategyFacts;

struct StrategyPart {
  std::string name = "allreduce";
  std::any options;
};

// Options have the defaults that suit nodes which have trained otherwise before: parameter servers sit beside all workers.
// `place` is where the text stands, for errors; they are invalid_argument.
StrategyPart parse_strategy(std::string_view text, std::string_view place);
// Not for several nodes: invalid_argument.
StrategyPart parse_team_strategy(std::string_view text, std::string_view place);
std::vector<OptionRow> option_rows(const StrategyPart& part);
// What parse_strategy() would make the same of.
std::string text_of(const StrategyPart& part);
// Which kind it is, without numbers and options: "allreduce", "ps:ssp", "local_sgd".
std::string kind_of(const StrategyPart& part);
// As the strategy's entry states them.
StrategyFacts facts_of(const StrategyPart& part, const ParameterSpace& space);

}  // namespace trireme::train
