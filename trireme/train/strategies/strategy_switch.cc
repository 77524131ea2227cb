// SPDX-License-Identifier: Apache-2.0
// switch: one strategy, then another, without a restart; its parts do the work, see plan.h.
#include <fmt/format.h>

#include "trireme/train/job/job.h"
#include "trireme/train/job/plan.h"
#include "trireme/train/job/strategy_entry.h"

namespace trireme::train::strategies {
namespace {

std::string duties(const std::any& options, int nodes) {
  std::string text;
  for (const StrategyPart& part : parts_of(std::any_cast<const SwitchOptions&>(options))) {
    const std::string who = duties_text({.name = part.name, .options = part.options}, nodes);
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", then ", who, text_of(part));
  }
  return text;
}

}  // namespace

StrategyEntry strategy_switch() {
  return {.name = "switch",
          .summary = "one strategy, then another, at a point of the training or by hand, without a restart",
          .consistency = Consistency::eventual,
          .options = options_type<SwitchOptions>(),
          .check = [](const std::any& options) { check_switch(std::any_cast<const SwitchOptions&>(options)); },
          .duties = duties};
}

}  // namespace trireme::train::strategies
