// SPDX-License-Identifier: Apache-2.0
// Writes and parses the header and the rows of a table of numbers.
#include "trireme/observe/number_table.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "trireme/observe/journal_version.h"

namespace trireme::observe {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <class Take>
void each_cell(std::string_view line, Take take) {
  while (true) {
    const std::size_t end = line.find(',');
    take(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

double parsed(std::string_view cell) {
  double value = kNone;
  const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return fault == std::errc{} && end == cell.data() + cell.size() ? value : kNone;
}

bool starts_with_a_name(std::string_view line) {
  return !line.empty() && (line.front() == '_' || (line.front() >= 'a' && line.front() <= 'z'));
}

}  // namespace

bool NumberTable::take(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  row_.clear();
  if (names_.empty() || starts_with_a_name(line)) {
    names_.clear();
    each_cell(line, [&](std::string_view name) { names_.emplace_back(current_name(name)); });
    return false;
  }
  each_cell(line, [&](std::string_view text) { row_.push_back(parsed(text)); });
  return row_.size() == names_.size();
}

double NumberTable::cell(std::string_view name) const {
  const auto column = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  return column < row_.size() ? row_[column] : kNone;
}

}  // namespace trireme::observe
