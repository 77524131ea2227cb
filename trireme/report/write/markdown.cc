// SPDX-License-Identifier: Apache-2.0
// Tables, small curves, and the report of a comparison.
#include "trireme/report/write/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace trireme::report {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

bool is_number(const std::string& cell) {
  return !cell.empty() &&
         (std::isdigit(static_cast<unsigned char>(cell.front())) != 0 || cell.front() == '+' || cell.front() == '-' || cell == "–");
}

std::string padded(const std::string& text, std::size_t width, bool is_right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return is_right ? blanks + text : text + blanks;
}

}  // namespace

std::string markdown_table(const Table& table) {
  std::vector<std::vector<std::string>> lines{table.columns};
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.columns.size(), 3);
  std::vector<bool> is_right(table.columns.size(), !table.rows.empty());
  for (std::size_t l = 0; l < lines.size(); ++l)
    for (std::size_t c = 0; c < widths.size() && c < lines[l].size(); ++c) {
      lines[l][c] = escaped(lines[l][c]);
      widths[c] = std::max(widths[c], width_of(lines[l][c]));
      if (l > 0 && !lines[l][c].empty() && !is_number(lines[l][c])) is_right[c] = false;
    }
  std::string text;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (std::size_t c = 0; c < widths.size(); ++c)
      text += "| " + padded(c < lines[l].size() ? lines[l][c] : "", widths[c], is_right[c]) + " ";
    text += "|\n";
    if (l > 0) continue;
    for (std::size_t c = 0; c < widths.size(); ++c) text += fmt::format("|{}{}", std::string(widths[c] + 1, '-'), is_right[c] ? ":" : "-");
    text += "|\n";
  }
  return text;
}

std::string sparkline(const std::vector<double>& values, std::size_t width) {
  static constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> known;
  for (const double value : values)
    if (std::isfinite(value)) known.push_back(value);
  if (known.size() < 2 || width == 0) return "";
  const auto [least, most] = std::ranges::minmax(known);
  const std::size_t count = std::min(width, known.size());
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * known.size() / count, end = (i + 1) * known.size() / count;
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += known[k];
    const double height = most > least ? (sum / static_cast<double>(end - begin) - least) / (most - least) : 0;
    text += kBlocks.at(static_cast<std::size_t>(std::clamp(height * 7.999, 0.0, 7.0)));
  }
  return text;
}

std::string to_markdown(const ComparisonDocument& document) {
  std::string text = fmt::format("# {}\n\n", document.title);
  if (!document.parity.empty()) {
    text += "## May they be compared?\n\n";
    for (const ParityNote& note : document.parity)
      text += fmt::format("- {}{}\n", note.severity == "warning" ? "**warning** " : "", note.text);
    text += "\n";
  }
  for (const Table& table : document.tables) {
    text += fmt::format("## {}\n\n{}\n", table.title, markdown_table(table));
    if (!table.note.empty()) text += table.note + "\n\n";
  }
  return text;
}

}  // namespace trireme::report
