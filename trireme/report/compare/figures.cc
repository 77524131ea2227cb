// SPDX-License-Identifier: Apache-2.0
// Curves side by side, and bars of means.
#include <algorithm>
#include <cmath>
#include <set>

#include "trireme/report/compare/tables.h"

namespace trireme::report {
namespace {

using Document = const RunDocument&;

struct Curve {
  const char* column;
  const char* title;
  const char* y_title;
};
constexpr Curve kCurves[] = {{"training_loss", "Training loss", "loss"},
                             {"validation_loss", "Held-out loss", "loss"},
                             {"training_accuracy", "Training accuracy", "share"},
                             {"validation_accuracy", "Held-out accuracy", "share"}};

struct Bar {
  const char* title;
  const char* y_title;
  double (*value)(Document);
};
double cluster_mean(Document d, const char* name) { return mean_of(d.cluster.summary, name); }
const Bar kBars[] = {{"Accuracy", "share", [](Document d) { return d.result.accuracy; }},
                     {"Time", "seconds", [](Document d) { return d.result.seconds; }},
                     {"Speed", "samples/s", [](Document d) { return d.progress.samples_seen / d.result.training_seconds; }},
                     {"Mean CPU use", "% of all cores", [](Document d) { return 100 * cluster_mean(d, "cpu"); }},
                     {"Mean memory", "GB", [](Document d) { return cluster_mean(d, "memory") / 1e9; }},
                     {"Mean network in", "MB/s", [](Document d) { return cluster_mean(d, "network_in") / 1e6; }},
                     {"Mean network out", "MB/s", [](Document d) { return cluster_mean(d, "network_out") / 1e6; }}};

void add_point(FigureSeries& series, const Spread& spread) {
  series.values.push_back(spread.mean);
  series.spread.push_back(spread.deviation);
}

bool is_known(const FigureSeries& series) {
  return std::ranges::any_of(series.values, [](double value) { return std::isfinite(value); });
}

void add_curve(const std::vector<Group>& groups, const Curve& curve, std::vector<Figure>& figures) {
  std::set<double> epochs;
  for (const Group& group : groups)
    for (const double epoch : group.first().epochs.at("epoch")) epochs.insert(epoch);
  Figure figure{.title = curve.title, .kind = "lines", .numbers = {epochs.begin(), epochs.end()}, .y_title = curve.y_title};
  for (const Group& group : groups) {
    FigureSeries series{.name = group.label};
    for (const double epoch : epochs) add_point(series, spread_of(group, [&](Document d) { return d.epochs.value(curve.column, epoch); }));
    figure.series.push_back(std::move(series));
  }
  if (std::ranges::any_of(figure.series, is_known)) figures.push_back(std::move(figure));
}

void add_bars(const std::vector<Group>& groups, const Bar& bar, std::vector<Figure>& figures) {
  Figure figure{.title = bar.title, .kind = "bars", .y_title = bar.y_title};
  FigureSeries series{.name = bar.title};
  for (const Group& group : groups) {
    figure.labels.push_back(group.label);
    add_point(series, spread_of(group, bar.value));
  }
  const bool is_worth_it = is_known(series);
  figure.series.push_back(std::move(series));
  if (is_worth_it) figures.push_back(std::move(figure));
}

void add_parts(const std::vector<Group>& groups, std::vector<Figure>& figures) {
  Figure figure{.title = "Parts of a step", .kind = "bars", .y_title = "ms"};
  for (const Group& group : groups) figure.labels.push_back(group.label);
  for (const char* part : {"input_wait", "compute", "forward", "backward", "exposed", "optimizer", "idle"}) {
    FigureSeries series{.name = part};
    for (const Group& group : groups) add_point(series, spread_of(group, [&](Document d) { return 1e3 * d.anatomy.seconds(part); }));
    if (is_known(series)) figure.series.push_back(std::move(series));
  }
  if (!figure.series.empty()) figures.push_back(std::move(figure));
}

}  // namespace

void add_figures(const std::vector<Group>& groups, std::vector<Figure>& figures) {
  for (const Curve& curve : kCurves) add_curve(groups, curve, figures);
  for (const Bar& bar : kBars) add_bars(groups, bar, figures);
  add_parts(groups, figures);
}

}  // namespace trireme::report
