// SPDX-License-Identifier: Apache-2.0
// Several runs side by side: tables, figures, and what makes them unlike.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trireme/report/document/moments.h"
#include "trireme/report/document/run_document.h"

namespace trireme::report {

struct ComparedRun {
  std::string label;  // runs with the same one are repetitions: means and spreads are over them
  RunDocument document;
  std::map<std::string, double> published;  // accuracy, seconds ...: what others measured
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note;
};

struct FigureSeries {
  std::string name;
  std::vector<double> values;
  std::vector<double> spread;  // standard deviation; empty: not known
};

struct Figure {
  std::string title;
  std::string kind;                 // bars, lines
  std::vector<double> numbers;      // x of lines
  std::vector<std::string> labels;  // x of bars
  std::vector<FigureSeries> series;
  std::string y_title;
};

struct ParityNote {
  std::string severity;  // warning, note
  std::string text;
};

struct ComparisonDocument {
  std::string title;
  std::vector<ComparedRun> runs;
  std::vector<Table> tables;
  std::vector<ParityNote> parity;
  std::vector<Figure> figures;
};

// All tables and figures that these runs have numbers for.
ComparisonDocument compare_runs(std::string title, std::vector<ComparedRun> runs);
// Labels from the settings in which they differ, the seed left out.
ComparisonDocument compare_runs(std::string title, std::vector<RunDocument> runs);

std::string to_json(const ComparisonDocument& document);

// Runs with one label, and what their numbers say together.
struct Group {
  std::string label;
  std::vector<const ComparedRun*> runs;

  const RunDocument& first() const { return runs.front()->document; }
};
std::vector<Group> groups_of(const std::vector<ComparedRun>& runs);

struct Spread {
  double mean = kUnknown;
  double deviation = kUnknown;  // unknown below two
};
template <class Value>
Spread spread_of(const Group& group, Value value) {
  Moments moments;
  for (const ComparedRun* run : group.runs) moments.add(value(run->document));
  return {.mean = moments.mean(), .deviation = moments.deviation()};
}

// "0.9804 ± 0.0012"
template <class Text>
std::string with_spread(const Spread& spread, Text text) {
  std::string words = text(spread.mean);
  if (spread.deviation == spread.deviation) words += " ± " + text(spread.deviation);
  return words;
}

}  // namespace trireme::report
