// SPDX-License-Identifier: Apache-2.0
// Aligned text tables for the terminal.
#include "trireme/base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trireme/base/error.h"

namespace trireme {
namespace {

// Width on the screen: UTF-8 continuation bytes take no column.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& cell, std::size_t to, TextTable::Align align) {
  const std::string space(to - std::min(to, width(cell)), ' ');
  return align == TextTable::Align::left ? cell + space : space + cell;
}

std::string scaled(double number, double base, const std::array<const char*, 5>& units) {
  std::size_t unit = 0;
  while (number >= base && unit + 1 < units.size()) {
    number /= base;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", number, unit == 0 ? 0 : 1, units[unit]);
}

}  // namespace

void TextTable::add_row(std::vector<std::string> cells) {
  ensure(cells.size() == columns_.size(), "a row has as many cells as the table has columns");
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_string() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, width(row[c]));
    widths.push_back(widest);
  }
  std::string out;
  const auto append_line = [&](const auto& cell_at) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) line += (c == 0 ? "" : "  ") + padded(cell_at(c), widths[c], columns_[c].align);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  append_line([&](std::size_t c) { return columns_[c].title; });
  append_line([&](std::size_t c) { return std::string(widths[c], '-'); });
  for (const auto& row : rows_) append_line([&](std::size_t c) { return row[c]; });
  return out;
}

std::string with_thousands(long long number) {
  std::string digits = fmt::format("{}", number);
  const std::ptrdiff_t first = digits.front() == '-' ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string human_bytes(double bytes) { return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }
std::string human_count(double count) { return scaled(count, 1000, {"", "k", "M", "G", "T"}); }

}  // namespace trireme
