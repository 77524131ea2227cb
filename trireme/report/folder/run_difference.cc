// SPDX-License-Identifier: Apache-2.0
// Settings by key, results by name.
#include "trireme/report/folder/run_difference.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace trireme::report {
namespace {

const ConfigRow* find(const std::vector<ConfigRow>& rows, const std::string& key) {
  const auto found = std::ranges::find(rows, key, &ConfigRow::key);
  return found == rows.end() ? nullptr : &*found;
}

// Files have texts in quotes, `parse_config_rows` takes them off.
std::string unquoted(const std::string& value) {
  return value.size() >= 2 && value.front() == '"' && value.back() == '"' ? value.substr(1, value.size() - 2) : value;
}

std::optional<std::string> value_of(const ComparedRun& run, const std::string& key) {
  if (const ConfigRow* row = find(run.document.run.config, key)) return unquoted(row->value);
  if (const ConfigRow* row = find(run.defaults, key)) return unquoted(row->value);
  return std::nullopt;
}

std::vector<std::string> keys_of(const ComparedRun& one, const ComparedRun& other) {
  std::vector<std::string> keys;
  for (const ComparedRun* run : {&one, &other})
    for (const ConfigRow& row : run->document.run.config)
      if (std::ranges::find(keys, row.key) == keys.end()) keys.push_back(row.key);
  return keys;
}

double samples_per_second(const RunDocument& d) {
  const double seconds = d.result.training_seconds;
  return seconds > 0 ? d.progress.samples_seen / seconds : d.progress.samples_per_second;
}

double bytes_sent(const RunDocument& d) {
  double bytes = kUnknown;
  for (const NodeFacts& node : d.nodes)
    if (std::isfinite(node.bytes_sent)) bytes = (std::isfinite(bytes) ? bytes : 0) + node.bytes_sent;
  return bytes;
}

std::string held_out(const RunDocument& one, const RunDocument& other) {
  const std::string& a = one.result.measured_on;
  const std::string& b = other.result.measured_on;
  return a == b || b.empty() ? a : a.empty() ? b : a + " / " + b;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json text_or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

}  // namespace

RunDifference difference_of(const ComparedRun& one, const ComparedRun& other) {
  const RunDocument& a = one.document;
  const RunDocument& b = other.document;
  RunDifference difference{.one = a.run.name, .other = b.run.name, .outcome_of_one = one.outcome, .outcome_of_other = other.outcome};
  for (const std::string& key : keys_of(one, other)) {
    SettingRow row{.key = key, .one = value_of(one, key), .other = value_of(other, key)};
    if (row.one != row.other) difference.settings.push_back(std::move(row));
  }
  const std::string where = held_out(a, b).empty() ? "" : " (" + held_out(a, b) + ")";
  const std::vector<ResultRow> all{{"accuracy" + where, a.result.accuracy, b.result.accuracy, Unit::share},
                                   {"loss" + where, a.result.loss, b.result.loss, Unit::number},
                                   {"accuracy (training)", a.result.training_accuracy, b.result.training_accuracy, Unit::share},
                                   {"loss (training)", a.result.training_loss, b.result.training_loss, Unit::number},
                                   {"epochs", a.progress.epoch, b.progress.epoch, Unit::count},
                                   {"steps", a.progress.step, b.progress.step, Unit::count},
                                   {"parameters", a.run.parameters, b.run.parameters, Unit::count},
                                   {"workers", a.run.workers, b.run.workers, Unit::count},
                                   {"time", a.result.seconds, b.result.seconds, Unit::seconds},
                                   {"time of steps", a.result.training_seconds, b.result.training_seconds, Unit::seconds},
                                   {"samples/s", samples_per_second(a), samples_per_second(b), Unit::count},
                                   {"sent by all nodes", bytes_sent(a), bytes_sent(b), Unit::bytes}};
  std::ranges::copy_if(all, std::back_inserter(difference.results),
                       [](const ResultRow& row) { return std::isfinite(row.one) || std::isfinite(row.other); });
  return difference;
}

Json json_of(const RunDifference& difference) {
  Json settings = Json::array(), results = Json::array();
  for (const SettingRow& row : difference.settings)
    settings.push_back({{"setting", row.key}, {"values", {text_or_null(row.one), text_or_null(row.other)}}});
  for (const ResultRow& row : difference.results) results.push_back({{"name", row.name}, {"values", {number(row.one), number(row.other)}}});
  return {{"runs", {difference.one, difference.other}},
          {"outcomes", {difference.outcome_of_one, difference.outcome_of_other}},
          {"settings", std::move(settings)},
          {"results", std::move(results)}};
}

}  // namespace trireme::report
