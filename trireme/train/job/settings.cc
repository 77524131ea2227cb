// SPDX-License-Identifier: Apache-2.0
// Every value of a job with its origin: what --print-config shows and a run directory keeps.
#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/digest.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_fit.h"
#include "trireme/optim/optimizer.h"
#include "trireme/train/job/class_weights.h"
#include "trireme/train/job/job.h"

namespace trireme::train {
namespace {

Config table_or_empty(const Config& config, std::string_view key) {
  const Config* table = config.find(key);
  return table == nullptr ? Config() : *table;
}

class SettingsLister {
 public:
  explicit SettingsLister(const Config& config) : config_(config) {}

  std::vector<Setting> list() {
    list_model(config_.at("model"));
    list_data(table_or_empty(config_, "data"));
    const Config train = with_class_weights_as_text(table_or_empty(config_, "train"));
    add_options<TrainOptions>("train", train, {"optimizer", "schedule", "early_stopping"});
    list_optimizer(table_or_empty(train, "optimizer"));
    add_options<optim::ScheduleOptions>("train.schedule", table_or_empty(train, "schedule"));
    add_options<EarlyStoppingOptions>("train.early_stopping", table_or_empty(train, "early_stopping"));
    list_strategy(table_or_empty(config_, "strategy"));
    add_options<ObserveOptions>("observe", table_or_empty(config_, "observe"));
    return std::move(settings_);
  }

 private:
  bool is_listed(const std::string& table, const std::string& key) const {
    return std::ranges::any_of(settings_, [&](const Setting& setting) { return setting.table == table && setting.key == key; });
  }
  void add(const std::string& table_name, const Config& table, const std::vector<OptionRow>& rows) {
    for (const OptionRow& row : rows) {
      if (is_listed(table_name, row.name)) continue;  // a reader may share an option with all of them
      const Config* given = table.find(row.name);
      settings_.push_back({table_name, row.name, row.value, given == nullptr ? "default" : given->origin()});
    }
  }
  template <class Options>
  void add_options(const std::string& table_name, const Config& table, std::vector<std::string_view> reserved = {}) {
    add(table_name, table, list_options(read_options<Options>(table, "[" + table_name + "]", std::move(reserved))));
  }
  void add_entry(const std::string& table_name, const Config& table, const OptionsType& type) {
    std::any options = type.defaults();
    OptionReader reader(table, table_name);
    type.visit(options, reader);
    OptionLister lister;
    type.visit(options, lister);
    add(table_name, table, lister.rows);
  }
  void add_given(const std::string& table_name, const Config& table, std::string_view key) {
    if (const Config* given = table.find(key)) settings_.push_back({table_name, std::string(key), given->to_toml(), given->origin()});
  }

  void list_model(const Config& model) {
    for (const std::string_view key : {"name", "loss", "output", "layers"}) add_given("model", model, key);
    if (const Config* name = model.find("name")) add_entry("model", model, graph::find_model(name->text()).options);
  }
  void list_data(const Config& table) {
    data::DataRequest request = data::data_request(table);
    OptionLister lister;
    data::visit_data(request, lister);
    add("data", table, lister.rows);
    add("data.augment", table_or_empty(table, "augment"), list_options(request.augment));
    add("data.pipeline", table_or_empty(table, "pipeline"), list_options(request.pipeline));
  }
  void list_optimizer(const Config& table) {
    const Config* name = table.find("name");
    const std::string chosen = name == nullptr ? "sgd" : name->text();
    settings_.push_back({"train.optimizer", "name", toml_quoted(chosen), name == nullptr ? "default" : name->origin()});
    add_entry("train.optimizer", table, optim::find_optimizer(chosen).options);
  }

  void list_strategy(const Config& table) {
    StrategyRequest request = strategy_request(table);
    const Config* name = table.find("name");
    settings_.push_back({"strategy", "name", toml_quoted(request.name), name == nullptr ? "default" : name->origin()});
    OptionLister lister;
    visit_strategy(request, lister);
    add("strategy", table, lister.rows);
  }

  const Config& config_;
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> settings_of(const Config& config) { return SettingsLister(config).list(); }

std::string job_hash(const Config& config) {
  Digest digest(Digest::Kind::sha256);
  Config bare = config;
  bare.put("model", graph::without_sizes(config.at("model")));
  for (const Setting& setting : settings_of(bare)) {
    const bool own_affair = (setting.table == "data" && (setting.key == "train" || setting.key == "test")) ||
                            (setting.table == "train" && setting.key == "threads") || setting.table == "observe";
    if (!own_affair) digest.add(fmt::format("{}.{} = {}\n", setting.table, setting.key, setting.value));
  }
  return digest.hex();
}

std::string job_file_of(const std::vector<Setting>& settings) {
  std::string text;
  std::string table;
  for (const Setting& setting : settings) {
    if (setting.table != table) {
      table = setting.table;
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    }
    const std::string line = fmt::format("{} = {}", setting.key, setting.value);
    text += fmt::format("{:<40}  # {}\n", line, setting.origin);
  }
  return text;
}

}  // namespace trireme::train
