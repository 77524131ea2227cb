// SPDX-License-Identifier: Apache-2.0
// Aligned text tables for the terminal.
#include "trireme/base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trireme/base/error.h"

namespace trireme {
namespace {

struct Span {
  char32_t first, last;
};
// Accents that are written over the character before them, as macOS has them in the names of files.
constexpr std::array<Span, 3> kNoColumn{{{0x300, 0x36f}, {0x200b, 0x200d}, {0xfe00, 0xfe0f}}};
// Chinese, Japanese, Korean and pictographs take two columns of a terminal.
constexpr std::array<Span, 8> kTwoColumns{{{0x1100, 0x115f},
                                           {0x2e80, 0x303e},
                                           {0x3041, 0xa4cf},
                                           {0xac00, 0xd7a3},
                                           {0xf900, 0xfaff},
                                           {0xff00, 0xff60},
                                           {0x1f300, 0x1faff},
                                           {0x20000, 0x3fffd}}};

template <std::size_t count>
bool is_in(const std::array<Span, count>& spans, char32_t character) {
  return std::any_of(spans.begin(), spans.end(), [&](Span span) { return character >= span.first && character <= span.last; });
}

// Width on the screen. What is no UTF-8 is shown somehow; it only must not be an error.
std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    char32_t character = lead < 0xc0 ? lead : lead < 0xe0 ? lead & 0x1fU : lead < 0xf0 ? lead & 0x0fU : lead & 0x07U;
    while (lead >= 0xc0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U)
      character = (character << 6U) | (static_cast<unsigned char>(text[at++]) & 0x3fU);
    columns += is_in(kNoColumn, character) ? 0 : is_in(kTwoColumns, character) ? 2 : 1;
  }
  return columns;
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
