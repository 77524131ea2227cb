// SPDX-License-Identifier: Apache-2.0
// A row for each run, in units that people read.
#include "trireme/cli/run_list.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

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

}  // namespace

std::string date_text(double seconds_since_1970) {
  if (!std::isfinite(seconds_since_1970)) return std::string(kUnknownText);
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(seconds_since_1970)));
}

std::string table_of(const std::vector<report::RunEntry>& entries) {
  using Align = TextTable::Align;
  TextTable table({{"run"},
                   {"when"},
                   {"model"},
                   {"data"},
                   {"strategy"},
                   {"epochs", Align::right},
                   {"time", Align::right},
                   {"outcome"},
                   {"loss", Align::right},
                   {"accuracy", Align::right},
                   {"best (epoch)", Align::right},
                   {"note"}});
  for (const report::RunEntry& entry : entries) {
    const report::RunSummary& s = entry.summary;
    table.add_row({entry.name, date_text(s.started), text_or_unknown(s.model), text_or_unknown(s.data), nodes_text(s),
                   fmt::format("{}/{}", whole(s.epochs_done), whole(s.epochs)), duration_text(s.seconds),
                   std::string(report::name_of(entry.outcome)), loss_text(entry.loss()), accuracy_text(entry.accuracy()),
                   best_text(entry.best()), shortened(entry.note)});
  }
  return table.to_string();
}

}  // namespace trireme::cli
