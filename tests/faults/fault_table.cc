// SPDX-License-Identifier: Apache-2.0
// Rows of the fault table in Markdown and JSON.
#include "tests/faults/fault_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "trireme/base/files.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

std::string cell(const std::optional<double>& seconds) { return seconds ? fmt::format("{:.2f}", *seconds) : "-"; }

std::string id_of(const std::string& line) { return line.substr(2, line.find(" |") - 2); }

template <class T>
Json as_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

}  // namespace

std::string table_header() {
  return "| # | fault | detected after s | next step after s | lost work, steps | result | invariants | |\n"
         "|---|---|---|---|---|---|---|---|\n";
}

std::string table_row(const FaultRow& row, const Outcome& outcome) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |", row.id, row.fault, cell(outcome.detected), cell(outcome.recovered),
                     outcome.lost_steps ? std::to_string(*outcome.lost_steps) : "-", outcome.result.empty() ? "-" : outcome.result,
                     outcome.invariants.empty() ? "-" : outcome.invariants, outcome.problems.empty() ? "PASS" : "FAIL");
}

Outcome worst_of(const std::vector<Outcome>& outcomes) {
  if (outcomes.size() == 1) return outcomes.front();
  Outcome worst = outcomes.back();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& one = outcomes[i];
    worst.detected = std::max(worst.detected, one.detected);
    worst.recovered = std::max(worst.recovered, one.recovered);
    worst.lost_steps = std::max(worst.lost_steps, one.lost_steps);
    if (!one.problems.empty() && worst.problems.empty()) worst.result = one.result;
    if (i + 1 < outcomes.size()) worst.problems.insert(worst.problems.end(), one.problems.begin(), one.problems.end());
  }
  worst.result += fmt::format("{}worst of {}", worst.result.empty() ? "" : "; ", outcomes.size());
  return worst;
}

void put_row(const std::filesystem::path& file, const std::string& line) {
  std::map<std::string, std::string> lines;
  if (std::filesystem::exists(file)) {
    std::istringstream old(read_file(file));
    for (std::string row; std::getline(old, row);)
      if (row.starts_with("| F")) lines[id_of(row)] = row;
  }
  lines[id_of(line)] = line;
  std::string text = table_header();
  for (const FaultRow& row : rows::catalog())
    if (const auto found = lines.extract(row.id)) text += found.mapped() + "\n";
  for (const auto& [id, rest] : lines) text += rest + "\n";  // the soak
  write_file_atomically(file, text);
}

std::string outcome_text(const Outcome& outcome) {
  return Json{{"detected", as_json(outcome.detected)},     {"recovered", as_json(outcome.recovered)},
              {"lost_steps", as_json(outcome.lost_steps)}, {"result", outcome.result},
              {"invariants", outcome.invariants},          {"problems", outcome.problems}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome parse_outcome(const std::string& text) {
  const Json json = parse_json(text);
  return {.detected = optional_of<double>(json.at("detected")),
          .recovered = optional_of<double>(json.at("recovered")),
          .lost_steps = optional_of<std::int64_t>(json.at("lost_steps")),
          .result = json.at("result"),
          .invariants = json.at("invariants"),
          .problems = json.at("problems")};
}

}  // namespace trireme::tests
