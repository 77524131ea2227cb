// SPDX-License-Identifier: Apache-2.0
// Which column of a table is predicted, and which of the others a network can use.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "trireme/inspect/table_profile.h"

namespace trireme::inspect {

struct ColumnChoice {
  std::size_t label = 0;
  std::string why{};  // "by its name", "the last column"
  bool regression = false;
  std::vector<std::string> class_names{};  // of numbers that don't count from 0; empty: as they come
  std::vector<std::string> dropped{};      // names of columns
  std::vector<std::string> left_out{};     // the same, and rows, each with its reason
  bool skips_rows = false;
};

// `wanted` is the label's column, by name or number; empty: it is found. invalid_argument if nothing can be learned from the table;
// `file` is for messages.
ColumnChoice choose_columns(const TableProfile& profile, const std::string& wanted, const std::string& file);

// Labels that are whole numbers, but don't count 0, 1, 2 ...: their names in numerical order. Empty for others.
std::vector<std::string> names_of_numbers(const std::set<std::string, std::less<>>& labels);

}  // namespace trireme::inspect
