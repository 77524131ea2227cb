// SPDX-License-Identifier: Apache-2.0
// One pass over the rows, read as the reader csv reads them.
#include "trireme/inspect/table_profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/data/formats/delimited_text.h"
#include "trireme/data/formats/table_header.h"
#include "trireme/data/formats/text_file.h"
#include "trireme/inspect/place.h"

namespace trireme::inspect {
namespace {

void add_field(std::string_view field, Column& column) {
  if (is_gap(field)) {
    ++column.gaps;
    return;
  }
  if (!column.has_many_values()) column.values.emplace(field);
  const auto number = data::number_in_field(field);
  if (!number) {
    ++column.words;
    return;
  }
  if (column.numbers > 0 && *number <= column.max) column.ascends = false;
  column.min = column.numbers == 0 ? *number : std::min(column.min, *number);
  column.max = column.numbers == 0 ? *number : std::max(column.max, *number);
  column.all_whole = column.all_whole && *number == std::floor(*number);
  ++column.numbers;
}

std::int64_t line_of(const data::DelimitedText& text) {
  const std::string place = text.place();
  return std::stoll(place.substr(place.rfind(':') + 1));
}

void add_row(const std::vector<std::string_view>& fields, const data::DelimitedText& text, TableProfile& profile) {
  ++profile.rows;
  if (fields.size() != profile.columns.size()) {
    profile.flaws.push_back({.line = line_of(text), .column = profile.columns.size()});
    return;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    add_field(fields[i], profile.columns[i]);
    if (is_gap(fields[i])) profile.flaws.push_back({.line = line_of(text), .column = i});
  }
}

void name_columns(std::string_view content, char separator, TableProfile& profile) {
  data::DelimitedText text(content, "", separator);
  std::vector<std::string_view> first, fields;
  if (!text.next_row(first)) return;
  const std::vector<std::string> names(first.begin(), first.end());  // fields are good until the next call
  data::DelimitedText again(content, "", separator);
  again.next_row(first);
  text.next_row(fields);
  profile.has_header = data::looks_like_names(first, fields);
  for (std::size_t i = 0; i < names.size(); ++i) profile.columns.push_back({.name = profile.has_header ? names[i] : std::to_string(i + 1)});
}

}  // namespace

bool is_gap(std::string_view field) {
  static constexpr std::array<std::string_view, 7> kGaps{"na", "n/a", "nan", "null", "none", "?", "-"};
  const auto begin = field.find_first_not_of(' ');
  if (begin == std::string_view::npos) return true;
  return field.size() <= 4 && std::ranges::find(kGaps, lower(field)) != kGaps.end();
}

TableProfile profile_of(const std::filesystem::path& file) {
  const data::TextFile source(file);
  const std::string_view content = source.text();
  TableProfile profile;
  const char separator = data::DelimitedText::guess_separator(content);
  name_columns(content, separator, profile);
  data::DelimitedText text(content, source.name(), separator);
  std::vector<std::string_view> fields;
  bool more = text.next_row(fields);
  if (profile.has_header) more = text.next_row(fields);
  for (; more; more = text.next_row(fields)) add_row(fields, text, profile);
  return profile;
}

}  // namespace trireme::inspect
