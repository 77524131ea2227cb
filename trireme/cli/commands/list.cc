// SPDX-License-Identifier: Apache-2.0
// list: what there is to use in a job file, with all options, from the catalogues themselves.
#include <algorithm>
#include <memory>

#include "trireme/base/json.h"
#include "trireme/base/options.h"
#include "trireme/base/table.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cluster/launch/launcher_entry.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/formats/writer_entry.h"
#include "trireme/data/sets/data_options.h"
#include "trireme/fetch/set_entry.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/op_entry.h"
#include "trireme/graph/option_check.h"
#include "trireme/optim/optimizer_entry.h"
#include "trireme/optim/schedule.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/strategy_entry.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string catalog;
  bool json = false;
};

struct Item {
  std::string name;
  std::string summary;
  std::vector<OptionRow> options;
};

std::vector<OptionRow> rows_of(const OptionsType& type) {
  std::any defaults = type.defaults();
  OptionLister lister;
  type.visit(defaults, lister);
  for (const std::string& name : graph::required_options(type)) {
    const auto row = std::find_if(lister.rows.begin(), lister.rows.end(), [&](const OptionRow& r) { return r.name == name; });
    row->value = "required";
  }
  return lister.rows;
}

template <class Entry>
std::vector<Item> items_of(const std::vector<Entry>& entries) {
  std::vector<Item> items;
  for (const Entry& entry : entries) items.push_back({std::string(entry.name), std::string(entry.summary), rows_of(entry.options)});
  return items;
}

// Public sets, and the readers that need no files.
std::vector<Item> data_sets() {
  std::vector<Item> items;
  for (const fetch::SetEntry& set : fetch::sets::catalog()) items.push_back({std::string(set.name), std::string(set.summary), {}});
  for (const data::ReaderEntry& reader : data::readers::catalog()) {
    if (!reader.reads_files) items.push_back({std::string(reader.name), std::string(reader.summary), rows_of(reader.options)});
  }
  return items;
}

std::vector<Item> file_readers() {
  std::vector<data::ReaderEntry> entries = data::readers::catalog();
  std::erase_if(entries, [](const data::ReaderEntry& entry) { return !entry.reads_files; });
  return items_of(entries);
}

template <class Entry>
std::vector<Item> without_options(const std::vector<Entry>& entries) {
  std::vector<Item> items;
  for (const Entry& entry : entries) items.push_back({std::string(entry.name), std::string(entry.summary), {}});
  return items;
}

std::vector<Item> job_tables() {
  return {{"[data]", "which samples; the options of the set or reader stand beside these", list_options<data::DataOptions>()},
          {"[data.augment]", "changes of training samples at random", list_options<data::AugmentOptions>()},
          {"[data.pipeline]", "how samples are read", list_options<data::PipelineOptions>()},
          {"[train]", "the training", list_options<train::TrainOptions>()},
          {"[train.schedule]", "of the learning rate", list_options<optim::ScheduleOptions>()},
          {"[train.early_stopping]", "an end before the last epoch", list_options<train::EarlyStoppingOptions>()},
          {"[strategy]", "of several nodes; the options of the strategy stand beside these", list_options<train::TeamOptions>()},
          {"[observe]", "what is watched beside the training", list_options<train::ObserveOptions>()}};
}

void print_table(std::string_view kind, const std::vector<Item>& items, std::ostream& out) {
  TextTable table({{std::string(kind)}, {"option"}, {"default"}, {"limits"}, {"meaning"}});
  for (const Item& item : items) {
    table.add_row({item.name, "", "", "", item.summary});
    for (const OptionRow& row : item.options) table.add_row({"", row.name, row.value, row.limits, row.help});
  }
  out << table.to_string();
}

Json to_json(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) {
    Json options = Json::array();
    for (const OptionRow& row : item.options)
      options.push_back({{"name", row.name}, {"default", row.value}, {"limits", row.limits}, {"help", row.help}});
    list.push_back({{"name", item.name}, {"summary", item.summary}, {"options", std::move(options)}});
  }
  return list;
}

int run(const Options& o, const run::Console& console) {
  Json document = Json::object();
  bool first = true;
  const auto show = [&](const std::string& catalog, std::string_view kind, const std::vector<Item>& items) {
    if (!o.catalog.empty() && o.catalog != catalog) return;
    document[catalog] = to_json(items);
    if (o.json) return;
    if (!first) console.out << "\n";
    print_table(kind, items, console.out);
    first = false;
  };
  show("models", "model", items_of(graph::zoo::catalog()));
  show("ops", "op", items_of(graph::ops::catalog()));
  show("data", "data set", data_sets());
  show("readers", "reader", file_readers());
  show("writers", "writer", without_options(data::writers::catalog()));
  show("optimizers", "optimizer", items_of(optim::optimizers::catalog()));
  show("strategies", "strategy", items_of(train::strategies::catalog()));
  show("launchers", "launcher", without_options(cluster::launchers::catalog()));
  show("job", "table", job_tables());
  if (o.json) console.out << document.dump(2) << "\n";
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments
      .option("catalog", options->catalog,
              "models, ops, data, readers, writers, optimizers, strategies, launchers or job (its tables); all if left out")
      .one_of({"models", "ops", "data", "readers", "writers", "optimizers", "strategies", "launchers", "job"});
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry list() {
  return {.name = "list",
          .summary = "show what a job file can name: models, ops, data sets, readers, optimizers, strategies, and all options",
          .declare = declare};
}

}  // namespace trireme::cli::commands
