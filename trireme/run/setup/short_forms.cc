// SPDX-License-Identifier: Apache-2.0
// Names become tables, and misplaced options an error that shows the line to write.
#include "trireme/run/setup/short_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/options.h"
#include "trireme/optim/optimizer.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/job/strategy_text.h"

namespace trireme::run {
namespace {

constexpr std::string_view kRate = "learning_rate";

// `key` of `table`, if it is a name alone, as a table that has this name.
void expand_name(Config& table, std::string_view key, std::string_view name_key) {
  const Config* given = table.find(key);
  if (given == nullptr || !given->is_text()) return;
  table.put(key, Config(Config::Table{{std::string(name_key), *given}}, given->origin()));
}

// "ps:async" has options too.
void expand_strategy(Config& job) {
  const Config* given = job.find("strategy");
  if (given == nullptr || !given->is_text() || given->text().find_first_of(":,") == std::string::npos)
    return expand_name(job, "strategy", "name");
  const std::string origin = given->origin();
  const train::StrategyPart part = train::parse_strategy(given->text(), origin);
  Config chosen(Config::Table{{"name", Config(part.name, origin)}}, origin);
  for (const OptionRow& row : train::option_rows(part)) chosen.set(row.name, row.value, origin);
  job.put("strategy", std::move(chosen));
}

void move_learning_rate(Config& train) {
  const Config* given = train.find(kRate);
  if (given == nullptr) return;
  const Config* optimizer = train.find("optimizer");
  Config table = optimizer == nullptr ? Config(Config::Table{}, given->origin()) : *optimizer;
  if (const Config* other = table.find(kRate))
    throw Error{invalid_argument, "{}: learning_rate is also given at {}; leave one of them out", given->origin(), other->origin()};
  table.put(kRate, *given);
  train.put("optimizer", std::move(table));
  train.erase(kRate);
}

bool has(const std::vector<OptionRow>& rows, std::string_view key) { return std::ranges::find(rows, key, &OptionRow::name) != rows.end(); }

std::vector<OptionRow> optimizer_options(const Config& train) {
  const Config* optimizer = train.find("optimizer");
  const Config* name = optimizer == nullptr || !optimizer->is_table() ? nullptr : optimizer->find("name");
  const OptionsType& type = optim::find_optimizer(name == nullptr ? "sgd" : name->text()).options;
  std::any options = type.defaults();
  OptionLister lister;
  type.visit(options, lister);
  return lister.rows;
}

// Where a key of [train] belongs that it does not have: "optimizer", or empty.
std::string_view table_of(const Config& train, std::string_view key) {
  if (has(optimizer_options(train), key)) return "optimizer";
  if (has(list_options<optim::ScheduleOptions>(), key)) return "schedule";
  if (has(list_options<train::EarlyStoppingOptions>(), key)) return "early_stopping";
  return "";
}

void check_places(const Config& train) {
  const std::vector<OptionRow> own = list_options<train::TrainOptions>();
  for (const auto& [key, value] : train.table()) {
    if (value.is_table() || has(own, key)) continue;
    const std::string_view table = table_of(train, key);
    if (!table.empty())
      throw Error{invalid_argument,
                  "{}: {} is an option of [train.{}]; write `{}.{} = {}` here, or `{} = {}` under [train.{}]",
                  value.origin(),
                  key,
                  table,
                  table,
                  key,
                  value.to_toml(),
                  key,
                  value.to_toml(),
                  table};
  }
}

}  // namespace

void expand_short_forms(Config& job) {
  expand_name(job, "model", "name");
  expand_name(job, "data", "name");
  expand_strategy(job);
  const Config* given = job.find("train");
  if (given == nullptr || !given->is_table()) return;
  Config train = *given;
  expand_name(train, "optimizer", "name");
  expand_name(train, "schedule", "kind");
  move_learning_rate(train);
  check_places(train);
  job.put("train", std::move(train));
}

std::string full_key(const std::string& key) {
  if (key == "train.learning_rate") return "train.optimizer.learning_rate";
  return key == "data.path" ? "data.train" : key;  // a job's own `path` is called so by now
}

}  // namespace trireme::run
