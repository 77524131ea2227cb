// SPDX-License-Identifier: Apache-2.0
// Switches of strategy beside the two strategies that they are made of.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "trireme/report/compare/factors.h"
#include "trireme/report/compare/tables.h"
#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

using Document = const RunDocument&;

double accuracy(const Group& group) {
  return spread_of(group, [](Document d) { return d.result.accuracy; }).mean;
}
double elapsed(const Group& group) {
  return spread_of(group, [](Document d) { return d.result.seconds; }).mean;
}

bool is_switch(const Group& group) { return group.first().run.setting("strategy.name") == "switch"; }

// Of the training; unknown if a policy decides.
double fraction_of(Document d) {
  const std::string at = d.run.setting("strategy.at");
  char* end = nullptr;
  const double value = std::strtod(at.c_str(), &end);
  if (at.empty() || *end != '\0') return kUnknown;
  return value < 1 ? value : value / d.run.epochs;
}

std::string without_options(const std::string& strategy) { return strategy.substr(0, strategy.find(',')); }

// With this strategy alone, and otherwise like `like`.
const Group* pure_group(const std::vector<Group>& groups, const std::vector<Factor>& factors, std::size_t like,
                        const std::string& strategy) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (is_switch(groups[i]) || without_options(groups[i].first().run.strategy) != without_options(strategy)) continue;
    const bool is_alike =
        std::ranges::all_of(factors, [&](const Factor& f) { return f.name.starts_with("strategy") || f.values[i] == f.values[like]; });
    if (is_alike) return &groups[i];
  }
  return nullptr;
}

}  // namespace

void add_switches(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "Switches beside their two strategies",
              .columns = {"run", "time (s)", "mix of both (s)", "difference (%)", "accuracy", "of the accuracy between them (%)",
                          "of the time between them (%)"},
              .note =
                  "The mix is f times the first strategy's time and 1 - f times the second's: what a free switch would take. Between them: "
                  "0 % is the second "
                  "strategy's value, 100 % the first one's; it means little if these two hardly differ."};
  std::vector<const RunDocument*> documents;
  for (const Group& group : groups) documents.push_back(&group.first());
  const std::vector<Factor> factors = varying_factors(documents);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!is_switch(groups[i])) continue;
    const RunFacts& run = groups[i].first().run;
    const Group* from = pure_group(groups, factors, i, run.setting("strategy.from"));
    const Group* to = pure_group(groups, factors, i, run.setting("strategy.to"));
    const double f = fraction_of(groups[i].first());
    if (from == nullptr || to == nullptr || !std::isfinite(f)) continue;
    const double mix = f * elapsed(*from) + (1 - f) * elapsed(*to);
    const auto between = [](double value, double first, double second) { return fixed(100 * (value - second) / (first - second), 1); };
    table.rows.push_back({groups[i].label, fixed(elapsed(groups[i]), 1), fixed(mix, 1), signed_percent(elapsed(groups[i]) / mix - 1),
                          fixed(accuracy(groups[i]), 4), between(accuracy(groups[i]), accuracy(*from), accuracy(*to)),
                          between(elapsed(groups[i]), elapsed(*from), elapsed(*to))});
  }
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

}  // namespace trireme::report
