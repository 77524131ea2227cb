// SPDX-License-Identifier: Apache-2.0
// Settings of several runs, compared key by key.
#include "trireme/report/compare/factors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace trireme::report {
namespace {

// The strategy is one factor as a whole; the others of these are stated by the run itself or mean nothing to the training.
constexpr std::array<std::string_view, 9> kNotAlone{"train.seed",       "model.name",    "data.name",
                                                    "train.batch_size", "train.threads", "data.class_names",
                                                    "data.train",       "data.test",     "train.checkpoint_seconds"};

bool is_single_setting(std::string_view key) {
  const bool is_of_switch = key == "strategy.name" || key == "strategy.from" || key == "strategy.to" || key == "strategy.at" ||
                            key == "strategy.schedule" || key == "strategy.mode";
  return std::ranges::find(kNotAlone, key) == kNotAlone.end() && !is_of_switch && !key.starts_with("observe.");
}

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:g}", value) : ""; }

void add_if_varying(std::vector<Factor>& factors, Factor factor) {
  const bool is_varying = std::ranges::any_of(factor.values, [&](const std::string& value) { return value != factor.values.front(); });
  if (is_varying) factors.push_back(std::move(factor));
}

template <class Value>
Factor factor_of(std::string name, const std::vector<const RunDocument*>& runs, Value value) {
  Factor factor{.name = std::move(name), .values = {}};
  for (const RunDocument* run : runs) factor.values.push_back(value(*run));
  return factor;
}

std::vector<std::string> keys_of(const std::vector<const RunDocument*>& runs) {
  std::vector<std::string> keys;
  for (const RunDocument* run : runs)
    for (const ConfigRow& row : run->run.config)
      if (is_single_setting(row.key) && std::ranges::find(keys, row.key) == keys.end()) keys.push_back(row.key);
  return keys;
}

// An option that a strategy, optimizer or model does not have is no difference: its owner's name already is one.
bool has_all(const std::vector<const RunDocument*>& runs, const std::string& key) {
  return std::ranges::all_of(
      runs, [&](const RunDocument* run) { return std::ranges::find(run->run.config, key, &ConfigRow::key) != run->run.config.end(); });
}

}  // namespace

std::string strategy_title(const RunDocument& document) {
  const RunFacts& run = document.run;
  if (run.setting("strategy.name") == "switch" && !run.setting("strategy.from").empty() && run.setting("strategy.schedule").size() <= 2)
    return fmt::format("{} → {} at {}", run.setting("strategy.from"), run.setting("strategy.to"), run.setting("strategy.at"));
  return document.stretches.size() > 1 || run.strategy.empty() ? run.plan : run.strategy;
}

std::vector<Factor> varying_factors(const std::vector<const RunDocument*>& runs) {
  std::vector<Factor> factors;
  if (runs.empty()) return factors;
  add_if_varying(factors, factor_of("model", runs, [](const RunDocument& d) { return d.run.model; }));
  add_if_varying(factors, factor_of("data", runs, [](const RunDocument& d) { return d.run.data; }));
  add_if_varying(factors, factor_of("strategy", runs, strategy_title));
  add_if_varying(factors, factor_of("nodes", runs, [](const RunDocument& d) { return number_text(d.run.workers); }));
  add_if_varying(factors, factor_of("batch", runs, [](const RunDocument& d) { return number_text(d.run.batch_size); }));
  for (const std::string& key : keys_of(runs))
    if (has_all(runs, key)) add_if_varying(factors, factor_of(key, runs, [&](const RunDocument& d) { return d.run.setting(key); }));
  return factors;
}

namespace {

// The main ones, and single settings that distinguish runs which those before don't: beside a network's name its depth adds nothing.
std::vector<Factor> distinguishing(const std::vector<Factor>& factors) {
  std::vector<Factor> kept;
  std::size_t told_apart = 1;
  for (const Factor& factor : factors) {
    kept.push_back(factor);
    std::set<std::vector<std::string>> different;
    for (std::size_t run = 0; run < factor.values.size(); ++run) {
      std::vector<std::string> values;
      for (const Factor& one : kept) values.push_back(one.values[run]);
      different.insert(std::move(values));
    }
    const bool is_single_setting = factor.name.find('.') != std::string::npos;
    if (is_single_setting && different.size() == told_apart) kept.pop_back();
    told_apart = different.size();
  }
  return kept;
}

}  // namespace

std::string label_of(const std::vector<Factor>& factors, std::size_t run, const RunDocument& document) {
  std::vector<std::string> words;
  for (const Factor& factor : distinguishing(factors)) {
    const std::string& value = factor.values[run];
    const bool explains_itself = factor.name == "model" || factor.name == "data" || factor.name == "strategy";
    words.push_back(explains_itself          ? value
                    : factor.name == "nodes" ? fmt::format("{} node{}", value, value == "1" ? "" : "s")
                    : factor.name == "batch" ? "batch " + value
                                             : factor.name.substr(factor.name.rfind('.') + 1) + "=" + value);
  }
  if (words.empty()) return document.run.job.empty() ? document.run.name : document.run.job;
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace trireme::report
