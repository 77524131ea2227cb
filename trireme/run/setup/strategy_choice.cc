// SPDX-License-Identifier: Apache-2.0
// Replaces the [strategy] table of a job by what --strategy says.
#include "trireme/run/setup/strategy_choice.h"

#include <algorithm>

#include "trireme/train/job/job.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/job/strategy_text.h"

namespace trireme::run {
namespace {

constexpr std::string_view kFlag = "--strategy";

bool has(const std::vector<OptionRow>& rows, const std::string& key) {
  return std::ranges::find(rows, key, &OptionRow::name) != rows.end();
}

}  // namespace

void choose_strategy(Config& config, const std::string& text) {
  const bool has_options = text.find_first_of(":,") != std::string::npos;
  train::StrategyPart part{.name = text, .options = {}};
  if (has_options)
    part = train::parse_strategy(text, kFlag);
  else
    part.options = train::find_strategy(text).options.defaults();
  const std::vector<OptionRow> shared = list_options<train::TeamOptions>();
  const std::vector<OptionRow> own = train::option_rows(part);
  Config::Table table{{"name", Config(part.name, std::string(kFlag))}};
  if (const Config* const before = config.find("strategy"))
    for (const auto& [key, value] : before->table())
      if (has(shared, key) || (!has_options && has(own, key))) table.emplace_back(key, value);
  Config chosen(std::move(table), std::string(kFlag));
  if (has_options)
    for (const OptionRow& row : own) chosen.set(row.name, row.value, std::string(kFlag));
  config.set("strategy", chosen.to_toml(), std::string(kFlag));
}

}  // namespace trireme::run
