// SPDX-License-Identifier: Apache-2.0
// A row for each run, in units that people read.
#include "trireme/cli/run_list.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <set>
#include <string_view>

#include "trireme/base/table.h"

namespace trireme::cli {
namespace {

constexpr std::size_t kMaxNoteShown = 40;  // characters, about
constexpr std::string_view kUnknownText = "-";

std::string whole(double value) { return std::isfinite(value) ? fmt::format("{:.0f}", value) : std::string(kUnknownText); }

std::string nodes_text(const report::RunSummary& s) {
  if (s.strategy.empty()) return std::string(kUnknownText);
  return s.strategy == "local" ? "local" : fmt::format("{}, {} nodes", s.strategy, whole(s.workers));
}

std::string loss_text(double loss) { return std::isfinite(loss) ? fmt::format("{:.4f}", loss) : std::string(kUnknownText); }

std::string accuracy_text(double accuracy) {
  return std::isfinite(accuracy) ? fmt::format("{:.2f} %", 100 * accuracy) : std::string(kUnknownText);
}

std::string best_text(const report::EpochScore& best) {
  if (!std::isfinite(best.epoch)) return std::string(kUnknownText);
  return fmt::format("{} ({:.0f})", std::isfinite(best.accuracy) ? accuracy_text(best.accuracy) : loss_text(best.loss), best.epoch);
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string text_or_unknown(const std::string& text) { return text.empty() ? std::string(kUnknownText) : text; }

// Cut between characters of UTF-8.
std::string shortened(const std::string& note) {
  if (note.size() <= kMaxNoteShown) return note;
  std::size_t end = kMaxNoteShown - 1;
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xc0U) == 0x80U) --end;
  return note.substr(0, end) + "…";
}

// What a narrow terminal has no room for, the first one first.
constexpr std::array<std::string_view, 7> kDispensable{"strategy", "loss", "time", "best (epoch)", "data", "epochs", "model"};

struct ListColumn {
  TextTable::Column column;
  std::string (*cell)(const report::RunEntry& entry);
};

std::vector<ListColumn> list_columns() {
  using Entry = report::RunEntry;
  constexpr auto kRight = TextTable::Align::right;
  return {
      {{"run"}, [](const Entry& e) { return e.name; }},
      {{"when"}, [](const Entry& e) { return date_text(e.summary.started); }},
      {{"model"}, [](const Entry& e) { return text_or_unknown(e.summary.model); }},
      {{"data"}, [](const Entry& e) { return text_or_unknown(e.summary.data); }},
      {{"strategy"}, [](const Entry& e) { return nodes_text(e.summary); }},
      {{"epochs", kRight}, [](const Entry& e) { return fmt::format("{}/{}", whole(e.summary.epochs_done), whole(e.summary.epochs)); }},
      {{"time", kRight}, [](const Entry& e) { return duration_text(e.summary.seconds); }},
      {{"outcome"}, [](const Entry& e) { return std::string(report::name_of(e.outcome)); }},
      {{"loss", kRight}, [](const Entry& e) { return loss_text(e.loss()); }},
      {{"accuracy", kRight}, [](const Entry& e) { return accuracy_text(e.accuracy()); }},
      {{"best (epoch)", kRight}, [](const Entry& e) { return best_text(e.best()); }},
      {{"note"}, [](const Entry& e) { return shortened(e.note); }},
  };
}

std::string table_without(const std::set<std::string_view>& left_out, const std::vector<report::RunEntry>& entries) {
  std::vector<ListColumn> kept = list_columns();
  std::erase_if(kept, [&](const ListColumn& c) { return left_out.contains(c.column.title); });
  std::vector<TextTable::Column> titles;
  for (const ListColumn& c : kept) titles.push_back(c.column);
  TextTable table(std::move(titles));
  for (const report::RunEntry& entry : entries) {
    std::vector<std::string> cells;
    for (const ListColumn& c : kept) cells.push_back(c.cell(entry));
    table.add_row(std::move(cells));
  }
  return table.to_string();
}

// That of the rule below the titles, where a byte is a column.
std::size_t width_of(const std::string& table) {
  const std::size_t rule = table.find('\n') + 1;
  return table.find('\n', rule) - rule;
}

}  // namespace

std::string date_text(double seconds_since_1970) {
  if (!std::isfinite(seconds_since_1970)) return std::string(kUnknownText);
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(seconds_since_1970)));
}

std::string table_of(const std::vector<report::RunEntry>& entries, std::size_t columns) {
  std::set<std::string_view> left_out;
  if (std::ranges::all_of(entries, [](const report::RunEntry& entry) { return entry.note.empty(); })) left_out.insert("note");
  std::string table = table_without(left_out, entries);
  for (const std::string_view title : kDispensable) {
    if (columns == 0 || width_of(table) <= columns) break;
    left_out.insert(title);
    table = table_without(left_out, entries);
  }
  return table;
}

}  // namespace trireme::cli
