// SPDX-License-Identifier: Apache-2.0
// Comma-separated numbers under names, line by line, as RUN/steps/NODE.csv has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trireme::observe {

class NumberTable {
 public:
  // Whether the line is a row, whole: names are none (a session that goes on may write them again), nor what a crash has cut short.
  bool take(std::string_view line);
  // Of the row taken last, by its name of today; NaN where there is no such column, or no number in it.
  double cell(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  std::vector<double> row_;
};

}  // namespace trireme::observe
