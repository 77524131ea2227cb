// SPDX-License-Identifier: Apache-2.0
// diff: in which settings two runs differ, and what came of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/command_entry.h"
#include "trireme/report/folder/run_difference.h"
#include "trireme/report/folder/run_folder.h"
#include "trireme/report/read/run_reader.h"
#include "trireme/train/job/job.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::vector<std::string> runs;
  bool json = false;
};

// A run of an older version lacks the settings that came later: what this version takes for them, where it can read the job.
std::vector<report::ConfigRow> defaults_of(const report::RunDocument& run) {
  std::vector<report::ConfigRow> rows;
  try {
    for (const train::Setting& s : train::settings_of(Config::load_toml(std::filesystem::path(run.run.directory) / "config.toml")))
      if (s.origin == "default") rows.push_back({.key = s.table + "." + s.key, .value = s.value, .origin = s.origin});
  } catch (const Error&) {  // then they are shown as missing
  }
  return rows;
}

std::string text_of(double value, report::Unit unit) {
  if (!std::isfinite(value)) return "-";
  switch (unit) {
    case report::Unit::share:
      return fmt::format("{:.2f} %", 100 * value);
    case report::Unit::seconds:
      return fmt::format("{:.1f} s", value);
    case report::Unit::bytes:
      return human_bytes(value);
    case report::Unit::count:
      return with_thousands(std::llround(value));
    case report::Unit::number:
      break;
  }
  return fmt::format("{:.4f}", value);
}

// "+0.41 points", "-12 %"
std::string change_text(const report::ResultRow& row) {
  if (!std::isfinite(row.one) || !std::isfinite(row.other)) return "";
  if (row.unit == report::Unit::share) return fmt::format("{:+.2f} points", 100 * (row.other - row.one));
  return row.one == 0 ? "" : fmt::format("{:+.1f} %", 100 * (row.other / row.one - 1));
}

constexpr std::size_t kMaxValueShown = 40;  // bytes, about

// A long value from shortly before where it differs from the other one; --json has all of it.
std::string shown(const std::string& value, const std::string& compared) {
  if (value.size() <= kMaxValueShown) return value;
  const auto differs = static_cast<std::size_t>(std::ranges::mismatch(value, compared).in1 - value.begin());
  const auto boundary = [&](std::size_t at) {  // of a character of UTF-8
    while (at > 0 && at < value.size() && (static_cast<unsigned char>(value[at]) & 0xc0U) == 0x80U) --at;
    return at;
  };
  const std::size_t first =
      differs < kMaxValueShown / 2 ? 0 : boundary(std::min(differs - kMaxValueShown / 4, value.size() - kMaxValueShown));
  const std::size_t last = boundary(std::min(value.size(), first + kMaxValueShown));
  return fmt::format("{}{}{}", first > 0 ? "…" : "", value.substr(first, last - first), last < value.size() ? "…" : "");
}

std::string text_of(const report::RunDifference& difference) {
  using Align = TextTable::Align;
  std::string text;
  if (difference.settings.empty()) text += "no setting differs\n";
  if (!difference.settings.empty()) {
    TextTable settings({{"setting"}, {difference.one}, {difference.other}});
    for (const report::SettingRow& row : difference.settings) {
      const std::string first = row.one.value_or("-"), second = row.other.value_or("-");
      settings.add_row({row.key, shown(first, second), shown(second, first)});
    }
    text += settings.to_string();
  }
  TextTable results({{"result"}, {difference.one, Align::right}, {difference.other, Align::right}, {"difference", Align::right}});
  results.add_row({"outcome", difference.outcome_of_one, difference.outcome_of_other, ""});
  for (const report::ResultRow& row : difference.results)
    results.add_row({row.name, text_of(row.one, row.unit), text_of(row.other, row.unit), change_text(row)});
  return text + "\n" + results.to_string();
}

std::string outcome_of(const std::string& run) { return std::string(name_of(report::RunFolder(run).look().at(0).outcome)); }

int run(const Options& o, const run::Console& console) {
  if (o.runs.size() != 2)
    throw Error{invalid_argument, "two runs are compared, {} {} given{}", o.runs.size(), o.runs.size() == 1 ? "is" : "are",
                o.runs.size() > 2 ? "; `trireme report RUN...` has several side by side" : ""};
  const report::RunDocument one = report::read_run(o.runs[0]), other = report::read_run(o.runs[1]);
  const report::RunDifference difference =
      report::difference_of({one, outcome_of(o.runs[0]), defaults_of(one)}, {other, outcome_of(o.runs[1]), defaults_of(other)});
  console.out << (o.json ? report::json_of(difference).dump(2) + "\n" : text_of(difference));
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("runs", options->runs, "the directories of two runs").required().shown_as("RUN");
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry diff() { return {.name = "diff", .summary = "settings and outcomes of two runs side by side", .declare = declare}; }

}  // namespace trireme::cli::commands
