// SPDX-License-Identifier: Apache-2.0
// Reads the catalogues of all modules.
#include "trireme/cli/catalogs.h"

#include <algorithm>

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

namespace trireme::cli {
namespace {

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
std::vector<CatalogItem> items_of(const std::vector<Entry>& entries) {
  std::vector<CatalogItem> items;
  for (const Entry& entry : entries) items.push_back({std::string(entry.name), std::string(entry.summary), rows_of(entry.options)});
  return items;
}

// Public sets, and the readers that need no files.
std::vector<CatalogItem> data_sets() {
  std::vector<CatalogItem> items;
  for (const fetch::SetEntry& set : fetch::sets::catalog()) items.push_back({std::string(set.name), std::string(set.summary), {}});
  for (const data::ReaderEntry& reader : data::readers::catalog()) {
    if (!reader.reads_files) items.push_back({std::string(reader.name), std::string(reader.summary), rows_of(reader.options)});
  }
  return items;
}

std::vector<CatalogItem> file_readers() {
  std::vector<data::ReaderEntry> entries = data::readers::catalog();
  std::erase_if(entries, [](const data::ReaderEntry& entry) { return !entry.reads_files; });
  return items_of(entries);
}

template <class Entry>
std::vector<CatalogItem> without_options(const std::vector<Entry>& entries) {
  std::vector<CatalogItem> items;
  for (const Entry& entry : entries) items.push_back({std::string(entry.name), std::string(entry.summary), {}});
  return items;
}

std::vector<CatalogItem> job_tables() {
  return {{"[data]", "which samples; the options of the set or reader stand beside these", list_options<data::DataOptions>()},
          {"[data.augment]", "changes of training samples at random", list_options<data::AugmentOptions>()},
          {"[data.pipeline]", "how samples are read", list_options<data::PipelineOptions>()},
          {"[train]", "the training", list_options<train::TrainOptions>()},
          {"[train.schedule]", "of the learning rate", list_options<optim::ScheduleOptions>()},
          {"[train.early_stopping]", "an end before the last epoch", list_options<train::EarlyStoppingOptions>()},
          {"[strategy]", "of several nodes; the options of the strategy stand beside these", list_options<train::TeamOptions>()},
          {"[observe]", "what is watched beside the training", list_options<train::ObserveOptions>()}};
}

}  // namespace

std::vector<Catalog> all_catalogs() {
  return {{"models", "model", items_of(graph::zoo::catalog())},
          {"ops", "op", items_of(graph::ops::catalog())},
          {"data", "data set", data_sets()},
          {"readers", "reader", file_readers()},
          {"writers", "writer", without_options(data::writers::catalog())},
          {"optimizers", "optimizer", items_of(optim::optimizers::catalog())},
          {"strategies", "strategy", items_of(train::strategies::catalog())},
          {"launchers", "launcher", without_options(cluster::launchers::catalog())},
          {"job", "table", job_tables()}};
}

}  // namespace trireme::cli
