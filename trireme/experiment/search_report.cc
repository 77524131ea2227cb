// SPDX-License-Identifier: Apache-2.0
// A table of the points tried, and an answer with its interval.
#include "trireme/experiment/search_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/experiment/child_training.h"

namespace trireme::experiment {
namespace {

std::string percent(int at, int grid) { return fmt::format("{:g} %", 100.0 * at / grid); }

std::string_view word(SearchOutcome outcome) {
  return outcome == SearchOutcome::reached ? "reached" : outcome == SearchOutcome::missed ? "missed" : "cannot tell";
}

std::string bound(double value) { return std::isfinite(value) ? fmt::format("{:+.4f}", value) : "unknown"; }

std::vector<SearchReport::Point> by_place(std::vector<SearchReport::Point> points) {
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.judged.at < b.judged.at; });
  return points;
}

std::string table_text(const SearchReport& report) {
  using Align = TextTable::Align;
  TextTable table({{"switch at", Align::right},
                   {"accuracy", Align::right},
                   {fmt::format("below {}", report.from), Align::right},
                   {fmt::format("{:g} % bounds", 100 * report.rule.confidence), Align::right},
                   {"steps took", Align::right},
                   {"outcome"}});
  for (const SearchReport::Point& point : by_place(report.points)) {
    const TriedPoint& judged = point.judged;
    std::string outcome(word(judged.outcome));
    if (judged.outcome == SearchOutcome::unclear) outcome += judged.leans_to_reached ? ", rather reached" : ", rather missed";
    if (point.diverged > 0) outcome += fmt::format(" ({} diverged)", point.diverged);
    table.add_row({percent(judged.at, report.grid), fmt::format("{:.4f}", point.accuracies.mean()),
                   fmt::format("{:+.4f}", judged.differences.mean()),
                   fmt::format("{} to {}", bound(judged.bounds.lower), bound(judged.bounds.upper)), in_hours(point.training_seconds.mean()),
                   outcome});
  }
  table.add_row({"100 %", fmt::format("{:.4f}", report.baselines.mean()), "", "", in_hours(report.baseline_seconds.mean()), "baseline"});
  return table.to_string();
}

std::string same_text(const SearchReport& report) {
  const TriedPoint alone = by_place(report.points).front().judged;
  const double reach = std::max(std::abs(alone.bounds.lower), std::abs(alone.bounds.upper));
  const std::string within = std::isfinite(reach) ? fmt::format("±{:.4f}", reach) : "an unknown margin: one seed has no spread";
  return fmt::format("no difference found: {} from the beginning does as well within {}{}\n", report.to, within,
                     alone.outcome == SearchOutcome::reached ? "" : "; whether it is within the tolerance takes more seeds to decide");
}

std::string interval_text(const SearchReport& report, const SearchAnswer& answer) {
  const std::string from = answer.last_missed < 0 ? "from 0 %" : fmt::format("after {}", percent(answer.last_missed, report.grid));
  const std::string to = answer.first_reached >= report.grid
                             ? "at the end (100 %) at the latest"
                             : fmt::format("at {} at the latest", percent(answer.first_reached, report.grid));
  return fmt::format("what is certain: the earliest such point lies {}, {}\n", from, to);
}

std::string answer_text(const SearchReport& report) {
  const SearchAnswer answer = report.answer();
  if (answer.is_same) return same_text(report);
  if (answer.point >= report.grid)
    return fmt::format("no switch point found: even at {} accuracy is lost; stay with {}\n", percent(report.grid - 1, report.grid),
                       report.from) +
           interval_text(report, answer);
  return fmt::format("switch at {}: the earliest point tried that still reaches the accuracy of {}\n", percent(answer.point, report.grid),
                     report.from) +
         interval_text(report, answer);
}

std::string baseline_text(const SearchReport& report) {
  const std::string spread = report.baselines.size() > 1 ? fmt::format(" ± {:.4f}", report.baselines.sd()) : "";
  return fmt::format("{} alone: accuracy {:.4f}{} over {} {}; tolerance {:.4f}, {}\n", report.from, report.baselines.mean(), spread,
                     report.baselines.size(), report.baselines.size() == 1 ? "seed" : "seeds", report.rule.tolerance,
                     report.is_tolerance_given                           ? "as given"
                     : report.rule.tolerance > 2 * report.baselines.sd() ? "the standard error of such an accuracy"
                                                                         : "twice that spread");
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

SearchAnswer SearchReport::answer() const {
  std::vector<TriedPoint> tried;
  for (const Point& point : points) tried.push_back(point.judged);
  return answer_of(tried, grid);
}

std::string to_text(const SearchReport& report) {
  return fmt::format("{}: from {} to {}, {} {}\n\n{}\n{}\n{}the search took {}\n", report.job, report.from, report.to, report.nodes,
                     report.nodes == 1 ? "node" : "nodes", baseline_text(report), table_text(report), answer_text(report),
                     in_hours(report.seconds));
}

std::string to_json(const SearchReport& report) {
  const auto share = [&](int at) { return at < 0 ? Json() : Json(1.0 * at / report.grid); };
  const SearchAnswer answer = report.answer();
  Json points = Json::array();
  for (const SearchReport::Point& point : report.points)
    points.push_back({{"at", share(point.judged.at)},
                      {"accuracies", point.accuracies.values},
                      {"differences", point.judged.differences.values},
                      {"mean_difference", point.judged.differences.mean()},
                      {"lower_bound", number(point.judged.bounds.lower)},
                      {"upper_bound", number(point.judged.bounds.upper)},
                      {"outcome", word(point.judged.outcome)},
                      {"training_seconds", point.training_seconds.values},
                      {"diverged", point.diverged}});
  const Json json{{"job", report.job},
                  {"from", report.from},
                  {"to", report.to},
                  {"nodes", report.nodes},
                  {"confidence", report.rule.confidence},
                  {"tolerance", report.rule.tolerance},
                  {"baseline_accuracies", report.baselines.values},
                  {"points", points},
                  {"no_difference_found", answer.is_same},
                  {"switch_at", share(answer.point)},
                  {"last_missed", share(answer.last_missed)},
                  {"first_reached", share(answer.first_reached)},
                  {"seconds", report.seconds}};
  return json.dump(2) + "\n";
}

}  // namespace trireme::experiment
