// SPDX-License-Identifier: Apache-2.0
// Bisection over points that were judged.
#include "trireme/experiment/switch_search.h"

#include <algorithm>
#include <cmath>

namespace trireme::experiment {
namespace {

struct Bracket {
  int low;   // leans to missed
  int high;  // leans to reached
};

Bracket bracket_of(const std::vector<TriedPoint>& tried, int grid) {
  Bracket bracket{0, grid};
  for (const TriedPoint& point : tried) {
    if (point.leans_to_reached)
      bracket.high = std::min(bracket.high, point.at);
    else
      bracket.low = std::max(bracket.low, point.at);
  }
  return bracket;
}

}  // namespace

double tolerance_from(const Sample& baselines, std::int64_t samples) {
  const double mean = baselines.mean();
  const double resolution = samples > 0 ? std::sqrt(std::max(0.0, mean * (1 - mean)) / static_cast<double>(samples)) : 0;
  return std::max(2 * baselines.sd(), resolution);
}

TriedPoint judge(int at, Sample differences, const SearchRule& rule) {
  TriedPoint point{.at = at, .differences = std::move(differences)};
  point.leans_to_reached = point.differences.mean() <= rule.tolerance;
  point.bounds = mean_bounds(point.differences, rule.confidence);
  if (point.bounds.upper <= rule.tolerance)
    point.outcome = SearchOutcome::reached;
  else if (!point.leans_to_reached && point.bounds.lower > 0)
    point.outcome = SearchOutcome::missed;
  return point;
}

std::optional<int> next_point(const std::vector<TriedPoint>& tried, int grid) {
  if (tried.empty()) return 0;
  const Bracket bracket = bracket_of(tried, grid);
  if (bracket.high - bracket.low <= 1) return std::nullopt;
  return bracket.low + (bracket.high - bracket.low) / 2;
}

SearchAnswer answer_of(const std::vector<TriedPoint>& tried, int grid) {
  SearchAnswer answer{.is_same = false, .point = bracket_of(tried, grid).high, .last_missed = -1, .first_reached = grid};
  answer.is_same = answer.point == 0;
  for (const TriedPoint& point : tried) {
    if (point.outcome == SearchOutcome::missed) answer.last_missed = std::max(answer.last_missed, point.at);
    if (point.outcome == SearchOutcome::reached) answer.first_reached = std::min(answer.first_reached, point.at);
  }
  return answer;
}

}  // namespace trireme::experiment
