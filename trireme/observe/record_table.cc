// SPDX-License-Identifier: Apache-2.0
// Cells by type: whole numbers, reals of a few digits, and points in time to the microsecond.
#include "trireme/observe/record_table.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace trireme::observe {
namespace {

constexpr double kMaxWhole = 9e15;  // beyond it a real has no ones any more

}  // namespace

void append_cell(std::string& row, const Field& field, const std::int64_t& value) {
  fmt::format_to(std::back_inserter(row), "{}", field.is_from_one ? value + 1 : value);
}

void append_cell(std::string& row, const Field& field, const double& value) {
  if (field.digits > 0)
    fmt::format_to(std::back_inserter(row), "{:.{}g}", value, field.digits);
  else
    fmt::format_to(std::back_inserter(row), "{:.6f}", value);
}

void read_cell(const NumberTable& from, const Field& field, std::int64_t& value) {
  const double number = from.cell(field.name);
  value = std::abs(number) < kMaxWhole ? static_cast<std::int64_t>(number) - (field.is_from_one ? 1 : 0) : 0;
}

void read_cell(const NumberTable& from, const Field& field, double& value) {
  const double number = from.cell(field.name);
  value = std::isfinite(number) ? number : 0;
}

}  // namespace trireme::observe
