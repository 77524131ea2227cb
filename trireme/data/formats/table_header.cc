// SPDX-License-Identifier: Apache-2.0
// What a table's first row is, by the two first rows.
#include "trireme/data/formats/table_header.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace trireme::data {
namespace {

// 0, 1, 2, ...: what programs call columns without a name.
bool counts_up(const std::vector<std::string_view>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] != std::to_string(i)) return false;
  }
  return row.size() > 2;
}

}  // namespace

std::optional<double> number_in_field(std::string_view field) {
  const auto outside = field.find_last_not_of(' ');
  std::string_view digits = field.substr(0, outside == std::string_view::npos ? 0 : outside + 1);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  double number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(static_cast<float>(number))) return std::nullopt;
  return number;
}

bool looks_like_names(const std::vector<std::string_view>& first, const std::vector<std::string_view>& second) {
  const auto is_number = [](std::string_view field) { return number_in_field(field).has_value(); };
  if (std::ranges::none_of(first, is_number) || counts_up(first)) return true;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (!is_number(first[i]) && is_number(second[i])) return true;
  }
  return false;
}

}  // namespace trireme::data
