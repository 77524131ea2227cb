// SPDX-License-Identifier: Apache-2.0
// list: what there is to use in a job file, with all options, from the catalogues themselves.
#include <memory>

#include "trireme/base/json.h"
#include "trireme/base/options.h"
#include "trireme/base/table.h"
#include "trireme/cli/catalogs.h"
#include "trireme/cli/command_entry.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string catalog;
  bool json = false;
};

void print_table(std::string_view kind, const std::vector<CatalogItem>& items, std::ostream& out) {
  TextTable table({{std::string(kind)}, {"option"}, {"default"}, {"limits"}, {"meaning"}});
  for (const CatalogItem& item : items) {
    table.add_row({item.name, "", "", "", item.summary});
    for (const OptionRow& row : item.options) table.add_row({"", row.name, row.value, row.limits, row.help});
  }
  out << table.to_string();
}

Json to_json(const std::vector<CatalogItem>& items) {
  Json list = Json::array();
  for (const CatalogItem& item : items) {
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
  for (const Catalog& catalog : all_catalogs()) {
    if (!o.catalog.empty() && o.catalog != catalog.name) continue;
    document[std::string(catalog.name)] = to_json(catalog.items);
    if (o.json) continue;
    if (!first) console.out << "\n";
    print_table(catalog.kind, catalog.items, console.out);
    first = false;
  }
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
