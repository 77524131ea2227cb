// SPDX-License-Identifier: Apache-2.0
// The earliest point of a training at which switching its strategy costs no accuracy: the decisions of the search, without the trainings.
//
// Points lie on a grid of 2^settings steps: at 0 the second strategy trains alone, at the last the first one, which is the baseline. At
// each point tried, every seed gives a difference, baseline minus switched; both have trained alike up to the switch, so they are paired.
// The rule, with one-sided Student bounds of the mean difference at the given confidence:
//   reached   the upper bound is not above the tolerance: what is lost is less than that
//   missed    the mean is above the tolerance, and the lower bound above 0: something is lost for sure, most likely more than the tolerance
//   unclear   otherwise: these seeds can't decide
// The search goes on from an unclear point as its mean says (not above the tolerance: as if it was reached), but the point stays unclear in
// the answer. It assumes that a later switch is no worse. With no spread at all the rule is that of Sync-Switch: a mean within the
// tolerance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/experiment/statistics.h"

namespace trireme::experiment {

struct SearchRule {
  double tolerance = 0;
  double confidence = 0.95;
};

// The default: twice the spread of the baselines, which are the first strategy's own runs; so far below their mean falls about one in forty
// of them. But at least the standard error of an accuracy measured on so many samples: a few runs can be alike by chance.
double tolerance_from(const Sample& baselines, std::int64_t samples);

enum class SearchOutcome { reached, missed, unclear };

struct TriedPoint {
  int at = 0;          // of the grid
  Sample differences;  // by seed
  Bounds bounds{};
  SearchOutcome outcome = SearchOutcome::unclear;
  bool leans_to_reached = false;
};
TriedPoint judge(int at, Sample differences, const SearchRule& rule);

// The point to try next; none when the search is over. The first is 0: where that does as well, there is nothing to search for.
std::optional<int> next_point(const std::vector<TriedPoint>& tried, int grid);

struct SearchAnswer {
  bool is_same = false;   // no difference was found even at 0
  int point = 0;          // the earliest that leans to reached; `grid` if none before the end does
  int last_missed = 0;    // the latest point that is surely missed, -1 if there is none ...
  int first_reached = 0;  // ... and the earliest that is surely reached, `grid` if there is none: the point lies between them
};
SearchAnswer answer_of(const std::vector<TriedPoint>& tried, int grid);

}  // namespace trireme::experiment
