// SPDX-License-Identifier: Apache-2.0
// Values from the catalogues, from the tables of a job file, and runs that lie here.
#include "trireme/cli/completion_values.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "trireme/cli/catalogs.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;

std::vector<Candidate> of_catalog(std::string_view name) {
  std::vector<Candidate> candidates;
  for (const Catalog& catalog : all_catalogs()) {
    if (catalog.name != name) continue;
    for (const CatalogItem& item : catalog.items) candidates.push_back({item.name, item.summary});
  }
  return candidates;
}

std::vector<Candidate> of_public_sets() {
  std::vector<Candidate> candidates;
  for (const fetch::SetEntry& set : fetch::sets::catalog()) candidates.push_back({std::string(set.name), std::string(set.summary)});
  return candidates;
}

std::vector<Candidate> of_commands() {
  std::vector<Candidate> candidates;
  for (const CommandDescription& command : describe_commands())
    if (!command.is_hidden) candidates.push_back({command.name, command.summary});
  return candidates;
}

std::vector<Candidate> plain(const std::vector<std::string>& values) {
  std::vector<Candidate> candidates;
  for (const std::string& value : values) candidates.push_back({value, ""});
  return candidates;
}

// "constant | piecewise | cosine"
std::vector<Candidate> of_limits(std::string_view limits) {
  constexpr std::string_view kOr = " | ";
  std::vector<Candidate> candidates;
  while (limits.find(kOr) != std::string_view::npos) {
    candidates.push_back({std::string(limits.substr(0, limits.find(kOr))), ""});
    limits.remove_prefix(limits.find(kOr) + kOr.size());
  }
  if (!candidates.empty()) candidates.push_back({std::string(limits), ""});
  return candidates;
}

// Settings whose values are entries of a catalogue.
std::string_view catalog_of_setting(std::string_view key) {
  struct Row {
    std::string_view key;
    std::string_view catalog;
  };
  constexpr std::array<Row, 9> kRows{{{"model", "models"},
                                      {"model.name", "models"},
                                      {"data", "data"},
                                      {"data.name", "data"},
                                      {"data.reader", "readers"},
                                      {"train.optimizer", "optimizers"},
                                      {"train.optimizer.name", "optimizers"},
                                      {"strategy", "strategies"},
                                      {"strategy.name", "strategies"}}};
  const auto* const row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.key == key; });
  return row == kRows.end() ? std::string_view() : row->catalog;
}

std::vector<Candidate> of_setting(std::string_view key, const OptionRow& option) {
  const std::string_view catalog = catalog_of_setting(key);
  if (!catalog.empty()) return of_catalog(catalog);
  return option.value == "true" || option.value == "false" ? plain({"true", "false"}) : of_limits(option.limits);
}

// What a job may say in short, beside its tables.
std::vector<CatalogItem> short_forms() {
  return {{.name = "[model]", .summary = "", .options = {{"name", "", "", "a network of the zoo"}}},
          {.name = "[train]",
           .summary = "",
           .options = {{"optimizer", "", "", "how gradients change the weights"}, {"learning_rate", "", "", "of the optimizer"}}},
          {.name = "[strategy]", .summary = "", .options = {{"name", "", "", "how several nodes train together"}}}};
}

// "train.epochs=", or, once the word has an equals sign, the values of that setting.
std::vector<Candidate> of_settings(const std::string& word) {
  std::vector<CatalogItem> tables;
  for (Catalog& catalog : all_catalogs())
    if (catalog.name == "job") tables = std::move(catalog.items);
  const std::vector<CatalogItem> shorter = short_forms();
  tables.insert(tables.end(), shorter.begin(), shorter.end());
  const std::size_t equals = word.find('=');
  std::vector<Candidate> candidates;
  for (const CatalogItem& table : tables) {
    for (const OptionRow& option : table.options) {
      const std::string key = table.name.substr(1, table.name.size() - 2) + "." + option.name;
      if (equals == std::string::npos) {
        candidates.push_back({key + "=", option.help});
      } else if (word.compare(0, equals, key) == 0) {
        for (const Candidate& value : of_setting(key, option)) candidates.push_back({key + "=" + value.text, value.help});
      }
    }
  }
  return candidates;
}

bool is_run(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / "journal.jsonl", none) && fs::exists(folder / "config.toml", none);
}

// Runs in the folder that the word names so far, and in runs/ if it names none; the latest first, which their names say.
std::vector<Candidate> of_runs(const std::string& word) {
  std::vector<Candidate> candidates;
  const auto look_into = [&](const std::string& folder) {
    std::error_code fault;
    std::vector<Candidate> here;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, fault), end; !fault && entry != end; entry.increment(fault))
      if (is_run(entry->path())) here.push_back({folder + entry->path().filename().string(), "run"});
    std::sort(here.begin(), here.end(), [](const Candidate& a, const Candidate& b) { return a.text > b.text; });
    candidates.insert(candidates.end(), here.begin(), here.end());
  };
  const std::string folder = word.substr(0, word.rfind('/') + 1);
  look_into(folder);
  if (folder.empty()) look_into("runs/");
  return candidates;
}

struct Kind {
  std::string_view word;
  Completions (*complete)(const std::string& word);
};

// The words for values that commands use.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds{
      {"RUN", [](const std::string& word) { return Completions{.candidates = of_runs(word), .paths = Paths::folders}; }},
      {"MODEL", [](const std::string&) { return Completions{.candidates = of_catalog("models")}; }},
      {"STRATEGY", [](const std::string&) { return Completions{.candidates = of_catalog("strategies")}; }},
      {"LAUNCHER", [](const std::string&) { return Completions{.candidates = of_catalog("launchers")}; }},
      {"READER", [](const std::string&) { return Completions{.candidates = of_catalog("readers")}; }},
      {"WRITER", [](const std::string&) { return Completions{.candidates = of_catalog("writers")}; }},
      {"SET", [](const std::string&) { return Completions{.candidates = of_public_sets()}; }},
      {"COMMAND", [](const std::string&) { return Completions{.candidates = of_commands()}; }},
      {"TABLE.KEY=VALUE", [](const std::string& word) { return Completions{.candidates = of_settings(word)}; }},
      {"job.toml", [](const std::string&) { return Completions{.paths = Paths::files, .endings = {"toml"}}; }},
      {"IMAGE",
       [](const std::string&) {
         return Completions{.paths = Paths::files, .endings = {"png", "jpg", "jpeg", "PNG", "JPG", "JPEG"}};
       }},
      {"TABLE",
       [](const std::string&) {
         return Completions{.paths = Paths::files, .endings = {"csv", "tsv", "gz", "xz"}};
       }},
      {"FILE", [](const std::string&) { return Completions{.paths = Paths::files}; }},
      {"PATH", [](const std::string&) { return Completions{.paths = Paths::files}; }},
      {"FOLDER", [](const std::string&) { return Completions{.paths = Paths::folders}; }},
      {"DIR", [](const std::string&) { return Completions{.paths = Paths::folders}; }}};
  return kKinds;
}

void add(Completions& sum, Completions part) {
  sum.candidates.insert(sum.candidates.end(), part.candidates.begin(), part.candidates.end());
  sum.paths = std::max(sum.paths, part.paths);
  sum.endings.insert(sum.endings.end(), part.endings.begin(), part.endings.end());
}

}  // namespace

Completions values_of(const ArgumentDescription& argument, const std::string& word) {
  if (!argument.choices.empty()) return {.candidates = plain(argument.choices)};
  Completions sum;
  std::string_view rest = argument.value;  // "MODEL|job.toml"
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const auto kind = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.word == part; });
    if (kind != kinds().end()) add(sum, kind->complete(word));
  }
  return sum;
}

}  // namespace trireme::cli
