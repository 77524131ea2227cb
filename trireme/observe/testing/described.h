// SPDX-License-Identifier: Apache-2.0
// For tests: fills, compares and documents any described record, so that a new field is tested with no line written.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "trireme/observe/record_fields.h"
#include "trireme/observe/record_wire.h"
#include "trireme/observe/records/field.h"

namespace trireme::observe {

using Content = std::variant<double, std::string>;

// A value of its own for field `i`, of three digits so that a table keeps it.
inline void fill_value(int i, double& value) { value = 1 + 0.01 * i; }
inline void fill_value(int i, std::optional<double>& value) { value = 1 + 0.01 * i; }
inline void fill_value(int i, std::int64_t& value) { value = 1000 + i; }
inline void fill_value(int i, std::uint64_t& value) { value = 1000 + static_cast<std::uint64_t>(i); }
inline void fill_value(int i, int& value) { value = 100 + i; }
inline void fill_value(int, bool& value) { value = true; }
inline void fill_value(int i, std::string& value) { value = fmt::format("text {}", i); }
inline void fill_value(int i, std::vector<int>& value) { value = {0, i}; }
inline void fill_value(int i, std::vector<std::int64_t>& value) { value = {0, 5, i}; }

template <class R>
R filled() {
  R record;
  int i = 0;
  describe(record, [&](const Field&, auto& value) { fill_value(++i, value); });
  return record;
}

template <class Value>
Content content_of(const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>)
    return value;
  else if constexpr (std::is_same_v<Value, std::optional<double>>)
    return value ? Content(*value) : Content("none");
  else if constexpr (std::is_arithmetic_v<Value>)
    return static_cast<double>(value);
  else
    return fmt::format("{}", fmt::join(value, " "));
}

// Each field of the two, unless only files are compared and it is not in them.
template <class R>
void expect_same(const R& a, const R& b, bool only_files) {
  std::vector<Content> contents;
  describe(b, [&](const Field&, const auto& value) { contents.push_back(content_of(value)); });
  std::size_t i = 0;
  describe(a, [&](const Field& field, const auto& value) {
    const Content expected = content_of(value), found = contents[i++];
    if (only_files && !field.is_in_files) return;
    if (const auto* number = std::get_if<double>(&expected))
      EXPECT_NEAR(std::get<double>(found), *number, 1e-6) << field.name;
    else
      EXPECT_EQ(found, expected) << field.name;
  });
}

inline Record as_read(const Fields& fields) {
  Record record{.type = "test", .fields = {}};
  for (const auto& [name, value] : fields) record.fields.emplace_back(std::string(name), value);
  return record;
}

template <class Value>
std::string_view documented_type(const Field& field, const Value&) {
  if (std::is_same_v<Value, bool>) return field.words[0].empty() ? "truth" : "text";
  if (std::is_integral_v<Value>) return "whole";
  if (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>) return "real";
  return "text";
}

inline std::string cell(std::string_view text) { return text.empty() ? "" : " " + std::string(text); }

// Rows of a table of docs/journal.md.
template <class R>
std::vector<std::string> documented_rows() {
  std::vector<std::string> rows;
  const R record;
  describe(record, [&](const Field& field, const auto& value) {
    if (field.is_in_files)
      rows.push_back(
          fmt::format("| `{}` | {} |{} |{} |", field.name, documented_type(field, value), cell(field.unit), cell(field.meaning)));
  });
  return rows;
}

// Lines below the heading that begins so, to the next heading. Tests run in the root of the sources.
inline std::vector<std::string> documented_section(const std::string& heading) {
  std::ifstream file("docs/journal.md");
  std::vector<std::string> lines;
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) is_inside = line.starts_with(heading);
    if (is_inside) lines.push_back(line);
  }
  return lines;
}

template <class R>
void expect_documented(const std::string& heading) {
  const std::vector<std::string> rows = documented_rows<R>();
  const std::vector<std::string> section = documented_section(heading);
  const std::set<std::string> lines(section.begin(), section.end());
  std::string missing;
  for (const std::string& row : rows)
    if (!lines.contains(row)) missing += row + "\n";
  EXPECT_EQ(missing, "") << "docs/journal.md: '" << heading << "' lacks these rows";
}

template <class R>
void expect_conforms() {
  const auto record = filled<R>();
  std::set<std::string> names;
  describe(record, [&](const Field& field, const auto&) { EXPECT_TRUE(names.emplace(field.name).second) << field.name << " twice"; });
  {
    SCOPED_TRACE("the wire");
    expect_same(record, unpack_record<R>(pack_record(record)), false);
    expect_same(R{}, unpack_record<R>(pack_record(R{})), false);
  }
  {
    SCOPED_TRACE("the journal");
    expect_same(record, record_of<R>(as_read(fields_of(record))), true);
  }
}

}  // namespace trireme::observe
