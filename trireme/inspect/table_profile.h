// SPDX-License-Identifier: Apache-2.0
// What the columns of a table hold: numbers, words, gaps, and which are no use to a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::inspect {

struct Column {
  static constexpr std::size_t kMaxValues = 1000;

  std::string name{};  // without a header "1", "2", ...
  std::int64_t numbers = 0;
  std::int64_t words = 0;
  std::int64_t gaps = 0;  // empty, NA, ?
  bool all_whole = true;  // of the numbers
  bool ascends = true;    // each number is larger than the one before
  double min = 0, max = 0;
  std::set<std::string, std::less<>> values{};  // the first kMaxValues + 1 different ones, as they stand there

  bool is_numeric() const { return numbers > 0 && words == 0; }
  bool has_many_values() const { return values.size() > kMaxValues; }
};

struct TableProfile {
  // A row with a gap, or of another length (column is then the number of columns).
  struct Flaw {
    std::int64_t line = 0;
    std::size_t column = 0;
  };

  std::vector<Column> columns{};
  std::vector<Flaw> flaws{};
  std::int64_t rows = 0;  // whole and flawed ones
  bool has_header = false;
};

// data_loss, with the reason, if the file is no table of text.
TableProfile profile_of(const std::filesystem::path& file);

bool is_gap(std::string_view field);

}  // namespace trireme::inspect
