// SPDX-License-Identifier: Apache-2.0
// Orders, verdicts and mixes of a comparison.
#include "trireme/experiment/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/strategy_text.h"

namespace trireme::experiment {
namespace {

double use_of(const FinishedRun& run, double ResourceUse::*field) { return run.use ? (*run.use).*field : kUnknown; }

std::string kind_of(const Config* strategy) {
  const train::StrategyRequest request = train::strategy_request(strategy == nullptr ? Config() : *strategy);
  return train::kind_of({.name = request.name, .options = request.options});
}

std::optional<std::size_t> pure_variant(const std::vector<VariantRuns>& runs, const std::string& strategy) {
  const std::string kind = train::kind_of(train::parse_strategy(strategy, "[strategy]"));
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (kind_of(runs[i].variant.job.find("strategy")) == kind) return i;
  return std::nullopt;
}

std::optional<double> real_in(const Config* table, std::string_view key) {
  const Config* value = table == nullptr ? nullptr : table->find(key);
  if (value == nullptr || value->is_list() || value->is_table()) return std::nullopt;
  if (!value->is_text()) return value->real();
  char* end = nullptr;
  const double number = std::strtod(value->text().c_str(), &end);  // "0.5", but not "auto"
  return end == value->text().c_str() || *end != '\0' ? std::nullopt : std::optional(number);
}

}  // namespace

int VariantRuns::finished() const {
  return static_cast<int>(std::count_if(cells.begin(), cells.end(), [](const RunCell& cell) { return cell.run.has_value(); }));
}

int VariantRuns::failed() const {
  return static_cast<int>(std::count_if(cells.begin(), cells.end(), [](const RunCell& cell) { return !cell.failure.empty(); }));
}

bool Comparison::is_whole() const {
  return std::all_of(runs.begin(), runs.end(),
                     [](const VariantRuns& variant) { return variant.finished() == static_cast<int>(variant.cells.size()); });
}

const std::vector<Metric>& metrics() {
  using Unit = Metric::Unit;
  using Run = const FinishedRun&;
  static const std::vector<Metric> kMetrics{
      {"training_accuracy", "Training accuracy", Unit::share, [](Run r) { return r.summary.training_accuracy; }},
      {"accuracy", "Validation accuracy", Unit::share, [](Run r) { return r.summary.accuracy; }},
      {"training_loss", "Training loss", Unit::number, [](Run r) { return r.summary.training_loss; }},
      {"loss", "Validation loss", Unit::number, [](Run r) { return r.summary.loss; }},
      {"seconds", "Elapsed time", Unit::duration, [](Run r) { return r.summary.seconds; }},
      {"training_seconds", "  of it steps", Unit::duration, [](Run r) { return r.summary.training_seconds; }},
      {"switch_seconds", "  of it switches", Unit::duration, [](Run r) { return r.summary.switch_seconds; }},
      {"process_seconds", "Start to exit", Unit::duration, [](Run r) { return use_of(r, &ResourceUse::seconds); }},
      {"samples_per_second", "Samples/s", Unit::sample_rate, [](Run r) { return r.summary.samples_per_second; }},
      {"staleness", "Staleness", Unit::number, [](Run r) { return r.summary.staleness; }},
      {"cpu_share", "CPU", Unit::share, [](Run r) { return use_of(r, &ResourceUse::cpu_share); }},
      {"memory_most", "Memory, most", Unit::bytes, [](Run r) { return use_of(r, &ResourceUse::memory_most); }},
      {"memory_mean", "Memory, mean", Unit::bytes, [](Run r) { return use_of(r, &ResourceUse::memory_mean); }},
      {"network_most", "Network, most", Unit::byte_rate, [](Run r) { return use_of(r, &ResourceUse::network_most); }},
      {"network_mean", "Network, mean", Unit::byte_rate, [](Run r) { return use_of(r, &ResourceUse::network_mean); }},
  };
  return kMetrics;
}

const Metric& metric(std::string_view name) {
  const auto found = std::find_if(metrics().begin(), metrics().end(), [&](const Metric& m) { return m.name == name; });
  ensure(found != metrics().end(), "a metric of the list");
  return *found;
}

Sample sample_of(const VariantRuns& runs, const Metric& metric) {
  Sample sample;
  for (const RunCell& cell : runs.cells)
    if (cell.run && std::isfinite(metric.value(*cell.run))) sample.values.push_back(metric.value(*cell.run));
  return sample;
}

Ranking rank(const std::vector<Sample>& samples, Best best) {
  Ranking ranking;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].size() > 0) ranking.order.push_back(i);
  std::stable_sort(ranking.order.begin(), ranking.order.end(), [&](std::size_t a, std::size_t b) {
    return best == Best::most ? samples[a].mean() > samples[b].mean() : samples[a].mean() < samples[b].mean();
  });
  for (std::size_t i = 1; i < ranking.order.size(); ++i) {
    const Sample& a = samples[ranking.order[i - 1]];
    const Sample& b = samples[ranking.order[i]];
    const bool alone = a.size() < 2 || b.size() < 2;
    ranking.relations.push_back(alone                                                        ? Relation::better_once
                                : welch_order(a, b, kComparisonConfidence) == Order::unclear ? Relation::similar
                                                                                             : Relation::better);
  }
  return ranking;
}

std::vector<Pair> check_pairs(const std::vector<Sample>& samples, const std::vector<double>& published, Best best) {
  std::vector<Pair> pairs;
  const auto is_better = [&](double a, double b) { return best == Best::most ? a > b : a < b; };
  for (std::size_t a = 0; a < samples.size(); ++a) {
    for (std::size_t b = 0; b < samples.size(); ++b) {
      if (!is_better(published[a], published[b]) || samples[a].size() == 0 || samples[b].size() == 0) continue;  // false for NaN
      const bool alone = samples[a].size() < 2 || samples[b].size() < 2;
      const bool same = is_better(samples[a].mean(), samples[b].mean());
      const bool told =
          alone ? samples[a].mean() != samples[b].mean() : welch_order(samples[a], samples[b], kComparisonConfidence) != Order::unclear;
      pairs.push_back({a, b, !told ? Verdict::unclear : same ? Verdict::agrees : Verdict::disagrees});
    }
  }
  return pairs;
}

std::vector<Mix> mixes(const std::vector<VariantRuns>& runs) {
  std::vector<Mix> list;
  const Metric& seconds = metric("seconds");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Config& job = runs[i].variant.job;
    const Config* strategy = job.find("strategy");
    if (kind_of(strategy) != "switch" || strategy->find("from") == nullptr || strategy->find("to") == nullptr) continue;
    const auto at = real_in(strategy, "at");
    const double epochs = real_in(job.find("train"), "epochs").value_or(kUnknown);
    const auto from = pure_variant(runs, strategy->at("from").text());
    const auto to = pure_variant(runs, strategy->at("to").text());
    if (!at || !from || !to) continue;
    const double f = *at < 1 ? *at : *at / epochs;
    const Mix mix{.variant = i,
                  .from = *from,
                  .to = *to,
                  .fraction = f,
                  .seconds = sample_of(runs[i], seconds).mean(),
                  .expected = f * sample_of(runs[*from], seconds).mean() + (1 - f) * sample_of(runs[*to], seconds).mean()};
    if (std::isfinite(mix.seconds) && std::isfinite(mix.expected)) list.push_back(mix);
  }
  return list;
}

}  // namespace trireme::experiment
