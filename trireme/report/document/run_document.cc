// SPDX-License-Identifier: Apache-2.0
// Looking things up in a run document, and taking the idle machine's use off.
#include "trireme/report/document/run_document.h"

#include <algorithm>
#include <cmath>

namespace trireme::report {
namespace {

void lower(MachineFacts& machine, std::string_view name, double by) {
  if (!std::isfinite(by)) return;
  const auto lowered = [by](double value) { return std::isfinite(value) ? std::max(0.0, value - by) : value; };
  for (auto& [key, extent] : machine.summary)
    if (key == name) extent = {.min = lowered(extent.min), .mean = lowered(extent.mean), .max = lowered(extent.max)};
  for (auto& [key, values] : machine.series.columns)
    if (key == name) std::ranges::transform(values, values.begin(), lowered);
}

void lower(MachineFacts& machine) {
  if (!machine.baseline) return;
  lower(machine, "cpu", machine.baseline->cpu);
  lower(machine, "memory", machine.baseline->memory);
  lower(machine, "network_in", machine.baseline->network_in);
  lower(machine, "network_out", machine.baseline->network_out);
}

}  // namespace

const std::vector<double>& Series::at(std::string_view name) const {
  static const std::vector<double> kNone;
  const auto found = std::ranges::find(columns, name, [](const auto& column) { return std::string_view(column.first); });
  return found == columns.end() ? kNone : found->second;
}

double Series::value(std::string_view name, double key) const {
  if (columns.empty()) return kUnknown;
  const std::vector<double>& keys = columns.front().second;
  const auto row = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
  const std::vector<double>& values = at(name);
  return row < values.size() ? values[row] : kUnknown;
}

StrategyFacts RunDocument::facts_of(std::string_view strategy) const {
  const auto found = std::ranges::find(strategies, strategy, &StrategyFacts::strategy);
  return found == strategies.end() ? StrategyFacts{.strategy = std::string(strategy)} : *found;
}

std::string RunFacts::setting(std::string_view key) const {
  const auto found = std::ranges::find(config, key, &ConfigRow::key);
  return found == config.end() ? "" : found->value;
}

const Extent* find(const Summary& summary, std::string_view name) {
  const auto found = std::ranges::find(summary, name, [](const auto& row) { return std::string_view(row.first); });
  return found == summary.end() ? nullptr : &found->second;
}

double mean_of(const Summary& summary, std::string_view name) {
  const Extent* extent = find(summary, name);
  return extent == nullptr ? kUnknown : extent->mean;
}

static const AnatomyPart* part_of(const Anatomy& anatomy, std::string_view name) {
  for (const auto* list : {&anatomy.parts, &anatomy.beside})
    if (const auto found = std::ranges::find(*list, name, &AnatomyPart::name); found != list->end()) return &*found;
  return nullptr;
}

double Anatomy::seconds(std::string_view part) const {
  const AnatomyPart* found = part_of(*this, part);
  return found == nullptr ? kUnknown : found->seconds;
}

double Anatomy::share(std::string_view part) const {
  const AnatomyPart* found = part_of(*this, part);
  return found == nullptr ? kUnknown : found->share;
}

void subtract_baseline(RunDocument& document) {
  if (document.is_above_baseline) return;
  document.is_above_baseline = true;
  for (MachineFacts& machine : document.machines) {
    if (!machine.baseline) document.warnings.push_back("no baseline was measured on " + machine.host + ": nothing is subtracted there");
    lower(machine);
  }
  lower(document.cluster);
}

}  // namespace trireme::report
