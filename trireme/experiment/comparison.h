// SPDX-License-Identifier: Apache-2.0
// Runs of several variants side by side: means and spreads, who is better, and whether that agrees with published numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/experiment/child_training.h"
#include "trireme/experiment/experiment.h"
#include "trireme/experiment/statistics.h"

namespace trireme::experiment {

inline constexpr double kComparisonConfidence = 0.95;

// One seed of one variant.
struct RunCell {
  std::int64_t seed = 0;
  std::string folder;
  std::optional<FinishedRun> run;
  std::string failure;  // why there is none; empty: it was not tried yet
};

struct VariantRuns {
  Variant variant;
  std::vector<RunCell> cells;

  int finished() const;
  int failed() const;
};

// A row of the table.
struct Metric {
  enum class Unit { share, number, duration, bytes, byte_rate, sample_rate };
  std::string_view name;   // in JSON, and of published numbers
  std::string_view title;  // in tables
  Unit unit;
  double (*value)(const FinishedRun& run);  // NaN: unknown
};
const std::vector<Metric>& metrics();
const Metric& metric(std::string_view name);

Sample sample_of(const VariantRuns& runs, const Metric& metric);  // of its finished runs, without unknown ones

// Variants by a metric, best first. A relation stands between each and the next one.
enum class Relation {
  better,       // by more than the spread
  similar,      // by less than the spread
  better_once,  // one run each: no spread is known
};
struct Ranking {
  std::vector<std::size_t> order;  // indices of variants
  std::vector<Relation> relations;
};
enum class Best { most, least };
Ranking rank(const std::vector<Sample>& samples, Best best);  // those without runs are left out

// Does the order of two variants agree with what was published?
enum class Verdict { agrees, disagrees, unclear };
struct Pair {
  std::size_t better;  // as published
  std::size_t worse;
  Verdict verdict;
};
std::vector<Pair> check_pairs(const std::vector<Sample>& samples, const std::vector<double>& published, Best best);

// A switch at the fraction f costs as much time as f of the one strategy and the rest of the other, if switching is free.
struct Mix {
  std::size_t variant;
  std::size_t from;
  std::size_t to;
  double fraction;
  double seconds;   // measured
  double expected;  // f · T_from + (1 - f) · T_to
};
std::vector<Mix> mixes(const std::vector<VariantRuns>& runs);

struct Comparison {
  Experiment experiment;
  std::vector<VariantRuns> runs;

  bool is_whole() const;  // every run is finished
};

enum class TableStyle { text, markdown };
std::string to_text(const Comparison& comparison, TableStyle style);
std::string to_json(const Comparison& comparison);
std::string to_curves(const Comparison& comparison);  // CSV

}  // namespace trireme::experiment
