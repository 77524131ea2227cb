// SPDX-License-Identifier: Apache-2.0
// csv: a table as text, or a folder that has one, or one for training and one for the test.
#include <fmt/ranges.h>

#include <algorithm>

#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/inspect/kind_entry.h"
#include "trireme/inspect/pictures.h"
#include "trireme/inspect/table_columns.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

bool is_table(const fs::path& file) { return has_any_extension(file, {".csv", ".tsv", ".tab"}); }
// A text that is named as such may be one.
bool may_be_table(const fs::path& file) { return is_table(file) || has_any_extension(file, {".txt", ".dat", ".data"}); }

std::string toml_list(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const std::string& item : items) quoted.push_back(toml_quoted(item));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

void choose_files(const Place& place, std::vector<fs::path> tables, Finding& finding) {
  const auto in_part = [&](PartName part) {
    return std::ranges::find_if(tables, [&](const fs::path& file) { return part_in(file.filename().string()) == part; });
  };
  if (tables.size() > 1) {
    const auto train = in_part(PartName::train);
    if (train == tables.end()) {
      std::vector<std::string> names;
      for (const fs::path& table : tables) names.push_back(table.filename().string());
      throw Error{invalid_argument,      "{}: has {} tables ({}); name the one to train on, e.g. {}",
                  place.path().string(), tables.size(),
                  some_of(names, 6),     tables[0].string()};
    }
    finding.train = {*train};
    auto test = in_part(PartName::test);
    if (test == tables.end()) test = in_part(PartName::validation);
    if (test != tables.end()) finding.test = {*test};
  } else {
    finding.train = {tables[0]};
  }
  for (const fs::path& file : place.files()) {
    if (file != finding.train[0] && (finding.test.empty() || file != finding.test[0]))
      finding.left_out.push_back(fmt::format("{}: another file", name_below(file, place.path())));
  }
  for (const fs::path& folder : place.folders()) finding.left_out.push_back(fmt::format("{}/: a folder", name_below(folder, place.path())));
}

// Tables of competitions have a test part without what is to be predicted.
void check_test(const std::string& label, Finding& finding, const Place& place) {
  if (finding.test.empty()) return;
  const TableProfile test = profile_of(finding.test[0]);
  if (std::ranges::find(test.columns, label, &Column::name) != test.columns.end()) return;
  finding.left_out.push_back(
      fmt::format("{}: no column '{}' in it, so nothing to compare answers with", name_below(finding.test[0], place.path()), label));
  finding.test.clear();
}

void add_options(const TableProfile& profile, const ColumnChoice& choice, Finding& finding) {
  const Column& label = profile.columns[choice.label];
  if (choice.regression)
    finding.options.push_back({"target", toml_list({label.name}), "the number to predict: " + choice.why});
  else
    finding.options.push_back({"label", toml_quoted(label.name), "the column to predict: " + choice.why});
  if (!choice.class_names.empty()) finding.options.push_back({"class_names", toml_list(choice.class_names), ""});
  if (!choice.dropped.empty()) finding.options.push_back({"drop", toml_list(choice.dropped), "no use to a network"});
  if (choice.skips_rows) finding.options.push_back({"on_damage", "\"skip\"", "rows with gaps are left out"});
}

std::optional<Finding> find(const Place& place, const Wishes& wishes) {
  std::vector<fs::path> tables = place.files_if(place.is_folder() ? is_table : may_be_table);
  if (tables.empty() || std::ranges::any_of(place.files(), is_picture)) return std::nullopt;
  Finding finding{.title = "a table", .reader = "csv", .form = Form::table};
  choose_files(place, std::move(tables), finding);
  const std::string file = finding.train[0].string();
  const TableProfile profile = profile_of(finding.train[0]);
  const ColumnChoice choice = choose_columns(profile, wishes.label, file);
  const std::string& label = profile.columns[choice.label].name;
  add_options(profile, choice, finding);
  check_test(label, finding, place);
  const std::size_t used = profile.columns.size() - 1 - choice.dropped.size();
  finding.facts.push_back(fmt::format("{}{}: {} to learn from, and '{}' to predict ({}), {}", counted(profile.rows, "row"),
                                      profile.has_header ? "" : " without a header", counted(static_cast<std::int64_t>(used), "column"),
                                      label, choice.why, choice.regression ? "as a number" : "as a class"));
  std::ranges::copy(choice.left_out, std::back_inserter(finding.left_out));
  return finding;
}

}  // namespace

KindEntry csv() {
  return {.name = "csv", .looked_for = "a table (.csv, .tsv, also .gz or .xz), or train.csv and test.csv", .order = 30, .find = find};
}

}  // namespace trireme::inspect::kinds
