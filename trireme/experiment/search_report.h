// SPDX-License-Identifier: Apache-2.0
// What a search for a switch point found, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "trireme/experiment/switch_search.h"

namespace trireme::experiment {

struct SearchReport {
  struct Point {
    TriedPoint judged;
    Sample accuracies;
    Sample training_seconds;
    int diverged = 0;
  };

  std::string job;
  std::string from, to;
  std::int64_t nodes = 1;
  int grid = 8;
  SearchRule rule;
  bool is_tolerance_given = false;
  Sample baselines;  // accuracies of the first strategy alone
  Sample baseline_seconds;
  std::vector<Point> points;  // in the order they were tried
  double seconds = 0;         // spent on all trainings

  SearchAnswer answer() const;
};

std::string to_text(const SearchReport& report);
std::string to_json(const SearchReport& report);

}  // namespace trireme::experiment
