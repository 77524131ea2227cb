// SPDX-License-Identifier: Apache-2.0
// Rules for columns: the label by its name, numbers with many values as a regression, words and numbers of things left out.
#include "trireme/inspect/table_columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "trireme/base/error.h"
#include "trireme/base/options.h"
#include "trireme/data/formats/table_header.h"
#include "trireme/inspect/place.h"

namespace trireme::inspect {
namespace {

constexpr std::size_t kMaxNumberClasses = 30;  // whole numbers with more values are something to predict as a number

std::optional<std::size_t> column_named(const TableProfile& profile, const std::string& wanted) {
  for (std::size_t i = 0; i < profile.columns.size(); ++i)
    if (profile.columns[i].name == wanted) return i;
  for (std::size_t i = 0; i < profile.columns.size(); ++i)
    if (lower(profile.columns[i].name) == lower(wanted)) return i;
  const auto number = data::number_in_field(wanted);
  if (number && *number >= 1 && *number <= static_cast<double>(profile.columns.size()) && *number == std::floor(*number))
    return static_cast<std::size_t>(*number) - 1;
  return std::nullopt;
}

std::size_t wanted_column(const TableProfile& profile, const std::string& wanted, const std::string& file) {
  if (const auto found = column_named(profile, wanted)) return *found;
  std::vector<std::string> names;
  for (const Column& column : profile.columns) names.push_back(column.name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string guess = nearest(wanted, views);
  throw Error{invalid_argument, "{}: --label {}: there is no such column; {}the columns are {}", file,
              wanted,           guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),  some_of(names, 20)};
}

bool may_be_classes(const Column& column, std::int64_t rows) {
  const auto values = static_cast<std::int64_t>(column.values.size());
  if (column.has_many_values() || values < 2) return false;
  if (column.words > 0) return values * 2 <= rows;
  return column.values.size() <= kMaxNumberClasses && values * 4 <= rows;
}

void find_label(const TableProfile& profile, ColumnChoice& choice) {
  static constexpr std::array<std::string_view, 14> kNames{"label",   "labels",   "class",   "classes", "target",    "targets", "y",
                                                           "species", "category", "outcome", "result",  "diagnosis", "type",    "kind"};
  for (const std::string_view name : kNames)
    for (std::size_t i = 0; i < profile.columns.size(); ++i) {
      if (lower(profile.columns[i].name) != name || profile.columns[i].values.size() < 2) continue;
      choice.label = i;
      choice.why = "by its name";
      return;
    }
  choice.label = profile.columns.size() - 1;
  choice.why = "the last column";
  // Tables without names may have it first.
  if (!profile.has_header && !may_be_classes(profile.columns.back(), profile.rows) &&
      may_be_classes(profile.columns.front(), profile.rows)) {
    choice.label = 0;
    choice.why = "the first column, since the last one has too many values";
  }
}

void name_classes(const Column& label, const std::string& file, std::int64_t rows, ColumnChoice& choice) {
  if (label.values.size() < 2)
    throw Error{
        invalid_argument, "{}: column '{}' is to be predicted ({}), but it has only {}; --label COLUMN names another", file, label.name,
        choice.why,       label.values.empty() ? "gaps" : fmt::format("the value '{}'", *label.values.begin())};
  const bool named = choice.why != "the last column";
  choice.regression =
      label.is_numeric() && (label.has_many_values() || !may_be_classes(label, rows)) &&
      !(named && label.all_whole && label.values.size() <= 100 && static_cast<std::int64_t>(label.values.size()) * 10 <= rows);
  if (choice.regression) return;
  if (label.has_many_values() || static_cast<std::int64_t>(label.values.size()) * 2 > rows)
    throw Error{invalid_argument,
                "{}: column '{}' is to be predicted ({}), but it has {} different words in {}; --label COLUMN names another",
                file,
                label.name,
                choice.why,
                label.has_many_values() ? "more than 1,000" : std::to_string(label.values.size()),
                counted(rows, "row")};
  choice.class_names = names_of_numbers(label.values);
}

// "id", "fiber_id", "PassengerId", "objid"; not "citric acid".
bool is_id(const Column& column) {
  static constexpr std::array<std::string_view, 12> kWords{"acid", "solid", "valid",  "invalid", "paid",  "bid",
                                                           "grid", "humid", "liquid", "void",    "rapid", "mid"};
  const std::string word = lower(column.name);
  if (word == "id" || word == "index" || word == "unnamed: 0" || word.empty()) return true;
  if (!word.ends_with("id") || !column.all_whole) return false;
  return std::ranges::none_of(kWords, [&](std::string_view other) { return word.ends_with(other); });
}

std::string reason_to_drop(const Column& column, std::int64_t rows) {
  if (column.gaps * 5 > rows) return fmt::format("{} of {} rows have a gap", column.gaps, rows);
  if (column.words > 0 && column.numbers > column.words) return fmt::format("words among its numbers in {}", counted(column.words, "row"));
  if (column.words > 0)
    return fmt::format("words ({} different), not numbers",
                       column.has_many_values() ? "more than 1,000" : std::to_string(column.values.size()));
  if (column.values.size() < 2) return column.values.empty() ? "empty" : fmt::format("always {}", *column.values.begin());
  if (is_id(column)) return "an id by its name";
  if (column.all_whole && column.ascends && rows > 20 && column.max - column.min == static_cast<double>(rows - 1))
    return "it counts the rows";
  return "";
}

void drop_columns(const TableProfile& profile, ColumnChoice& choice) {
  for (std::size_t i = 0; i < profile.columns.size(); ++i) {
    if (i == choice.label) continue;
    const std::string reason = reason_to_drop(profile.columns[i], profile.rows);
    if (reason.empty()) continue;
    choice.dropped.push_back(profile.columns[i].name);
    choice.left_out.push_back(fmt::format("column '{}': {}", profile.columns[i].name, reason));
  }
}

void drop_rows(const TableProfile& profile, const std::string& file, ColumnChoice& choice) {
  std::set<std::int64_t> lines;
  for (const TableProfile::Flaw& flaw : profile.flaws) {
    const bool in_dropped = flaw.column < profile.columns.size() &&
                            std::ranges::find(choice.dropped, profile.columns[flaw.column].name) != choice.dropped.end();
    if (!in_dropped) lines.insert(flaw.line);
  }
  if (lines.empty()) return;
  if (static_cast<std::int64_t>(lines.size()) == profile.rows)
    throw Error{invalid_argument, "{}: every row has a gap in one of the columns that are left; remove such columns", file};
  std::vector<std::string> places;
  for (const std::int64_t line : lines) places.push_back(std::to_string(line));
  choice.skips_rows = true;
  choice.left_out.push_back(fmt::format("{} with a gap or of another length: {} {}",
                                        counted(static_cast<std::int64_t>(lines.size()), "row"), lines.size() == 1 ? "line" : "lines",
                                        some_of(places, 8)));
}

}  // namespace

std::vector<std::string> names_of_numbers(const std::set<std::string, std::less<>>& labels) {
  std::vector<std::string> names(labels.begin(), labels.end());
  const auto number = [](const std::string& name) { return data::number_in_field(name); };
  const bool whole =
      std::ranges::all_of(names, [&](const std::string& name) { return number(name) && *number(name) == std::floor(*number(name)); });
  if (!whole || names.empty()) return {};
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return *number(name); });
  const bool counts_up = *number(names.front()) == 0 && *number(names.back()) == static_cast<double>(names.size()) - 1;
  return counts_up ? std::vector<std::string>{} : names;
}

ColumnChoice choose_columns(const TableProfile& profile, const std::string& wanted, const std::string& file) {
  if (profile.rows < 4 || profile.columns.size() < 2)
    throw Error{invalid_argument, "{}: {} and {} are too little of a table to learn from", file, counted(profile.rows, "row"),
                counted(static_cast<std::int64_t>(profile.columns.size()), "column")};
  ColumnChoice choice;
  if (wanted.empty()) {
    find_label(profile, choice);
  } else {
    choice.label = wanted_column(profile, wanted, file);
    choice.why = "--label";
  }
  name_classes(profile.columns[choice.label], file, profile.rows, choice);
  drop_columns(profile, choice);
  if (choice.dropped.size() + 1 == profile.columns.size())
    throw Error{invalid_argument, "{}: no column of numbers is left to learn from: {}", file, fmt::join(choice.left_out, "; ")};
  drop_rows(profile, file, choice);
  return choice;
}

}  // namespace trireme::inspect
