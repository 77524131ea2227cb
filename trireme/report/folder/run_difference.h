// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: settings that differ, and results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trireme/base/json.h"
#include "trireme/report/document/run_document.h"

namespace trireme::report {

struct SettingRow {
  std::string key;
  std::optional<std::string> one, other;  // none: the run has no such setting
};

enum class Unit { share, number, seconds, count, bytes };

struct ResultRow {
  std::string name;
  double one = kUnknown, other = kUnknown;
  Unit unit = Unit::number;
};

struct RunDifference {
  std::string one, other;                        // names
  std::string outcome_of_one, outcome_of_other;  // finished, killed ...
  std::vector<SettingRow> settings;              // in the order of the files
  std::vector<ResultRow> results;                // what is known of at least one
};

// `defaults` stand for settings that a run's own configuration lacks and the other's has.
struct ComparedRun {
  const RunDocument& document;
  std::string outcome;
  std::vector<ConfigRow> defaults;
};

RunDifference difference_of(const ComparedRun& one, const ComparedRun& other);
Json json_of(const RunDifference& difference);

}  // namespace trireme::report
