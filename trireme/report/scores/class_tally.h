// SPDX-License-Identifier: Apache-2.0
// Counts answers by label, and makes precision, recall, F1 and the confusion matrix of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trireme/report/scores/evaluation.h"

namespace trireme::report {

// The highest output; of equal ones the first.
std::int64_t answer_of(std::span<const float> outputs);

class ClassTally {
 public:
  explicit ClassTally(std::int64_t classes);

  // `outputs` has one number for each class. invalid_argument if the label is none of them.
  void add(std::int64_t label, std::span<const float> outputs);
  // Classes without a name are called by their number.
  ClassEvaluation finish(const std::vector<std::string>& names) const;

 private:
  std::vector<ClassScore> score_classes(const std::vector<std::string>& names) const;

  std::int64_t classes_, k_;
  std::int64_t samples_ = 0, correct_ = 0, among_top_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> cells_;  // by label and answer
};

}  // namespace trireme::report
