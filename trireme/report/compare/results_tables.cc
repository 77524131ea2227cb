// SPDX-License-Identifier: Apache-2.0
// What was run, and what came out of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "trireme/report/compare/factors.h"
#include "trireme/report/compare/tables.h"
#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

constexpr std::size_t kMaxEpochRows = 60;

using Document = const RunDocument&;

std::string share(double value) { return fixed(value, 4); }
std::string seconds(double value) { return fixed(value, value < 10 ? 3 : 1); }
std::string signed_fixed(double value, int digits) { return std::isfinite(value) ? fmt::format("{:+.{}f}", value, digits) : "–"; }

double accuracy(Document d) { return d.result.accuracy; }
double elapsed(Document d) { return d.result.seconds; }
// Over the steps alone; validation and checkpoints don't count.
double speed(Document d) { return d.progress.samples_seen / d.result.training_seconds; }

std::string measured_on(const std::vector<Group>& groups) {
  std::set<std::string> kinds;
  for (const Group& group : groups) kinds.insert(group.first().result.measured_on);
  return kinds.size() == 1 && !kinds.begin()->empty() ? *kinds.begin() : "test or validation";
}

double published(const Group& group, const std::string& name) {
  const auto& all = group.runs.front()->published;
  const auto found = all.find(name);
  return found == all.end() ? kUnknown : found->second;
}

struct EpochTable {
  const char* column;
  const char* title;
};

void add_epoch_table(const std::vector<Group>& groups, const EpochTable& kind, Tables& tables) {
  std::set<double> epochs;
  for (const Group& group : groups)
    for (const double epoch : group.first().epochs.at("epoch")) epochs.insert(epoch);
  if (epochs.empty()) return;
  Table table{.title = kind.title, .columns = {"epoch"}, .note = "Shares from 0 to 1."};
  for (const Group& group : groups) table.columns.push_back(group.label);
  const double stride = std::ceil(static_cast<double>(epochs.size()) / static_cast<double>(kMaxEpochRows));
  bool is_known = false;
  for (const double epoch : epochs) {
    if (std::fmod(epoch, stride) != 0 && epoch != *epochs.rbegin() && epoch != 1) continue;
    std::vector<std::string> row{plain(epoch)};
    for (const Group& group : groups) {
      const Spread spread = spread_of(group, [&](Document d) { return d.epochs.value(kind.column, epoch); });
      is_known = is_known || std::isfinite(spread.mean);
      row.push_back(with_spread(spread, share));
    }
    table.rows.push_back(std::move(row));
  }
  if (stride > 1) table.note += fmt::format(" Every {:.0f}th epoch.", stride);
  if (is_known) tables.push_back(std::move(table));
}

std::vector<const RunDocument*> first_documents(const std::vector<Group>& groups) {
  std::vector<const RunDocument*> list;
  for (const Group& group : groups) list.push_back(&group.first());
  return list;
}

// The number of nodes may go with the strategy: then it is no difference of its own.
bool follows(const Factor& factor, const Factor& from) {
  for (std::size_t i = 0; i < from.values.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (from.values[i] == from.values[j] && factor.values[i] != factor.values[j]) return false;
  return true;
}

// In a row all of these are the same, and the contrasted one is not.
std::vector<Factor> all_but(const std::vector<Factor>& factors, const Factor& contrasted) {
  std::vector<Factor> rest;
  for (const Factor& factor : factors)
    if (!follows(factor, contrasted)) rest.push_back(factor);
  return rest;
}

std::vector<std::string> values_of(const std::vector<Factor>& factors, std::size_t group) {
  std::vector<std::string> values;
  for (const Factor& factor : factors) values.push_back(factor.values[group]);
  return values;
}

// One node has no strategy, so against it that factor may differ.
bool differ_in_nodes_only(const std::vector<Factor>& factors, std::size_t a, std::size_t b, bool has_no_strategy) {
  return std::ranges::all_of(factors, [&](const Factor& factor) {
    return factor.name == "nodes" || (has_no_strategy && factor.name == "strategy") || factor.values[a] == factor.values[b];
  });
}

std::vector<std::string> distinct(const std::vector<std::string>& values) {
  std::vector<std::string> list;
  for (const std::string& value : values)
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  return list;
}

std::string factor_title(const std::string& name) { return name.find('.') == std::string::npos ? name : name.substr(name.rfind('.') + 1); }

// One row against the first value of the contrasted factor.
std::vector<std::string> contrast_cells(const Group& a, const Group& b) {
  const Spread first = spread_of(a, accuracy), other = spread_of(b, accuracy);
  const Spread first_time = spread_of(a, elapsed), other_time = spread_of(b, elapsed);
  return {with_spread(first, share),
          with_spread(other, share),
          signed_fixed(other.mean - first.mean, 4),
          with_spread(first_time, seconds),
          with_spread(other_time, seconds),
          signed_fixed(other_time.mean - first_time.mean, 3),
          signed_percent(other_time.mean / first_time.mean - 1)};
}

Table contrast_table(const std::vector<Factor>& rest, const std::string& a, const std::string& b) {
  Table table{.title = fmt::format("{} against {}", b, a),
              .note = fmt::format("Differences are {} minus {}, computed from the unrounded values.", b, a)};
  for (const Factor& factor : rest) table.columns.push_back(factor_title(factor.name));
  for (const std::string what : {"accuracy", "time (s)"}) {
    table.columns.push_back(fmt::format("{}, {}", what, a));
    table.columns.push_back(fmt::format("{}, {}", what, b));
    table.columns.emplace_back(what == "accuracy" ? "difference" : "difference (s)");
  }
  table.columns.emplace_back("difference (%)");
  return table;
}

}  // namespace

void add_setup(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "What was run",
              .columns = {"run", "model", "data", "strategy", "nodes", "batch (all workers)", "updates an epoch", "epochs", "highest rate",
                          "seeds"},
              .note = "Updates are counted as the parameters change: once a batch in step, once a push out of step."};
  for (const Group& group : groups) {
    const RunDocument& d = group.first();
    std::set<std::string> seeds;
    for (const ComparedRun* run : group.runs) seeds.insert(plain(run->document.run.seed));
    table.rows.push_back({group.label, d.run.model, d.run.data, strategy_title(d), plain(d.run.workers), plain(d.run.batch_size),
                          fixed(d.result.updates_per_epoch, 0), plain(d.run.epochs), fmt::format("{:.4g}", d.result.highest_rate),
                          fmt::format("{}", fmt::join(seeds, " "))});
  }
  tables.push_back(std::move(table));
}

void add_results(const std::vector<Group>& groups, Tables& tables) {
  const std::string where = measured_on(groups);
  Table table{.title = "Results",
              .columns = {"run", "training accuracy", where + " accuracy", "training loss", where + " loss", "time (s)", "steps (s)",
                          "samples/s", "accuracy, difference", "time, difference (s)", "time, difference (%)"},
              .note =
                  "Accuracies are shares from 0 to 1. Losses are without a penalty. Time runs from the first step to the end of the last "
                  "epoch, steps is "
                  "the part of it without validation, checkpoints and switches. Differences are to the first row. ± is the standard "
                  "deviation over runs."};
  const bool is_published = std::ranges::any_of(groups, [](const Group& g) { return !g.runs.front()->published.empty(); });
  if (is_published) table.columns.insert(table.columns.end(), {"published accuracy", "published time (s)"});
  const Group& base = groups.front();
  for (const Group& group : groups) {
    const double change = spread_of(group, elapsed).mean - spread_of(base, elapsed).mean;
    const bool is_base = &group == &base;
    std::vector<std::string> row{group.label,
                                 with_spread(spread_of(group, [](Document d) { return d.result.training_accuracy; }), share),
                                 with_spread(spread_of(group, accuracy), share),
                                 with_spread(spread_of(group, [](Document d) { return d.result.training_loss; }), share),
                                 with_spread(spread_of(group, [](Document d) { return d.result.loss; }), share),
                                 with_spread(spread_of(group, elapsed), seconds),
                                 with_spread(spread_of(group, [](Document d) { return d.result.training_seconds; }), seconds),
                                 with_spread(spread_of(group, speed), [](double v) { return fixed(v, 0); }),
                                 is_base ? "" : signed_fixed(spread_of(group, accuracy).mean - spread_of(base, accuracy).mean, 4),
                                 is_base ? "" : signed_fixed(change, 3),
                                 is_base ? "" : signed_percent(change / spread_of(base, elapsed).mean)};
    if (is_published) {
      row.push_back(share(published(group, "accuracy")));
      row.push_back(seconds(published(group, "seconds")));
    }
    table.rows.push_back(std::move(row));
  }
  tables.push_back(std::move(table));
}

void add_contrast(const std::vector<Group>& groups, Tables& tables) {
  const std::vector<Factor> factors = varying_factors(first_documents(groups));
  if (factors.empty()) return;
  const auto strategy = std::ranges::find(factors, "strategy", &Factor::name);
  const Factor& contrasted = strategy == factors.end() ? factors.front() : *strategy;
  const std::vector<Factor> rest = all_but(factors, contrasted);
  if (rest.empty()) return;  // with one factor the results say it all
  const std::vector<std::string> values = distinct(contrasted.values);
  for (std::size_t v = 1; v < values.size(); ++v) {
    Table table = contrast_table(rest, values.front(), values[v]);
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = 0; j < groups.size(); ++j) {
        if (contrasted.values[i] != values.front() || contrasted.values[j] != values[v] || values_of(rest, i) != values_of(rest, j))
          continue;
        std::vector<std::string> row = values_of(rest, i);
        const std::vector<std::string> cells = contrast_cells(groups[i], groups[j]);
        row.insert(row.end(), cells.begin(), cells.end());
        table.rows.push_back(std::move(row));
      }
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
}

void add_scaling(const std::vector<Group>& groups, Tables& tables) {
  const std::vector<Factor> factors = varying_factors(first_documents(groups));
  const auto nodes = std::ranges::find(factors, "nodes", &Factor::name);
  if (nodes == factors.end()) return;
  Table table{
      .title = "Speed by number of nodes",
      .columns = {"run", "nodes", "samples/s", "times as fast", "efficiency"},
      .note = "Against the run with the fewest nodes and otherwise the same settings; efficiency is that divided by the ratio of nodes."};
  bool has_pair = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t base = i;
    for (std::size_t j = 0; j < groups.size(); ++j) {
      const RunDocument& other = groups[j].first();
      const bool is_alone = other.facts_of(other.run.strategy).exchange == StrategyFacts::Exchange::none;
      const bool is_fewer = other.run.workers < groups[base].first().run.workers;
      if (is_fewer && differ_in_nodes_only(factors, i, j, is_alone)) base = j;
    }
    has_pair = has_pair || base != i;
    const double ratio = spread_of(groups[i], speed).mean / spread_of(groups[base], speed).mean;
    const double n = groups[i].first().run.workers / groups[base].first().run.workers;
    table.rows.push_back({groups[i].label, plain(groups[i].first().run.workers),
                          with_spread(spread_of(groups[i], speed), [](double v) { return fixed(v, 0); }), fixed(ratio, 2),
                          percent(ratio / n)});
  }
  if (has_pair) tables.push_back(std::move(table));
}

void add_epochs(const std::vector<Group>& groups, Tables& tables) {
  add_epoch_table(groups, {"training_accuracy", "Training accuracy after each epoch"}, tables);
  add_epoch_table(groups, {"validation_accuracy", "Held-out accuracy after each epoch"}, tables);
}

void add_limits(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "What limited them", .columns = {"run", "limit", "in words"}};
  for (const Group& group : groups) table.rows.push_back({group.label, group.first().limit.kind, group.first().limit.sentence});
  tables.push_back(std::move(table));
}

}  // namespace trireme::report
