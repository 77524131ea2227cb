// SPDX-License-Identifier: Apache-2.0
// Described records as rows of a table of numbers (RUN/steps/NODE.csv), and back.
#pragma once

#include <cstdint>
#include <string>

#include "trireme/observe/number_table.h"
#include "trireme/observe/records/field.h"

namespace trireme::observe {

void append_cell(std::string& row, const Field& field, const std::int64_t& value);
void append_cell(std::string& row, const Field& field, const double& value);

// A cell that is missing or no number is 0.
void read_cell(const NumberTable& from, const Field& field, std::int64_t& value);
void read_cell(const NumberTable& from, const Field& field, double& value);

template <class R>
std::string column_names() {
  std::string line;
  const R record;
  describe(record, [&](const Field& field, const auto&) {
    if (!line.empty()) line += ',';
    line += field.name;
  });
  return line + "\n";
}

template <class R>
std::string row_of(const R& record) {
  std::string row;
  describe(record, [&](const Field& field, const auto& value) {
    if (!row.empty()) row += ',';
    append_cell(row, field, value);
  });
  return row + "\n";
}

template <class R>
R record_of_row(const NumberTable& table) {
  R record;
  describe(record, [&](const Field& field, auto& value) { read_cell(table, field, value); });
  return record;
}

}  // namespace trireme::observe
