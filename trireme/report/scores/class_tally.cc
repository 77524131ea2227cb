// SPDX-License-Identifier: Apache-2.0
// scikit-learn's definitions: a measure without a case is 0, and means are over classes that occur.
#include "trireme/report/scores/class_tally.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::report {
namespace {

constexpr std::int64_t kTop = 5;

double ratio(std::int64_t part, std::int64_t whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

// How many outputs come before that of the label.
std::int64_t rank_of(std::span<const float> outputs, std::int64_t label) {
  const float own = outputs[static_cast<std::size_t>(label)];
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(outputs.size()); ++i) {
    const float other = outputs[static_cast<std::size_t>(i)];
    if (other > own || (other == own && i < label)) ++before;
  }
  return before;
}

MeanScore mean_by(const std::vector<ClassScore>& classes, double (*weight)(const ClassScore&)) {
  MeanScore mean;
  double weights = 0;
  for (const ClassScore& one : classes) {
    const double share = weight(one);
    weights += share;
    mean.precision += share * one.precision;
    mean.recall += share * one.recall;
    mean.f1 += share * one.f1;
  }
  if (weights == 0) return {};
  return {.precision = mean.precision / weights, .recall = mean.recall / weights, .f1 = mean.f1 / weights};
}

}  // namespace

std::int64_t answer_of(std::span<const float> outputs) { return std::ranges::max_element(outputs) - outputs.begin(); }

ClassTally::ClassTally(std::int64_t classes) : classes_(classes), k_(classes > kTop ? kTop : 0) {}

void ClassTally::add(std::int64_t label, std::span<const float> outputs) {
  ensure(static_cast<std::int64_t>(outputs.size()) == classes_, "one output for each class");
  if (label < 0 || label >= classes_)
    throw Error{invalid_argument, "a sample has the label {}, but the model has {} classes", label, classes_};
  const std::int64_t answer = answer_of(outputs);
  ++samples_;
  ++cells_[{label, answer}];
  correct_ += answer == label ? 1 : 0;
  if (k_ > 0) among_top_ += rank_of(outputs, label) < k_ ? 1 : 0;
}

std::vector<ClassScore> ClassTally::score_classes(const std::vector<std::string>& names) const {
  std::vector<ClassScore> scores(static_cast<std::size_t>(classes_));
  std::vector<std::int64_t> hits(scores.size());
  for (const auto& [cell, count] : cells_) {
    scores[static_cast<std::size_t>(cell.first)].support += count;
    scores[static_cast<std::size_t>(cell.second)].answers += count;
    if (cell.first == cell.second) hits[static_cast<std::size_t>(cell.first)] = count;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ClassScore& score = scores[i];
    score.name = i < names.size() ? names[i] : std::to_string(i);
    score.precision = ratio(hits[i], score.answers);
    score.recall = ratio(hits[i], score.support);
    score.f1 = ratio(2 * hits[i], score.support + score.answers);
  }
  return scores;
}

ClassEvaluation ClassTally::finish(const std::vector<std::string>& names) const {
  ClassEvaluation evaluation{.accuracy = ratio(correct_, samples_),
                             .k = k_,
                             .top_k_accuracy = ratio(among_top_, samples_),
                             .classes = score_classes(names),
                             .macro = {},
                             .weighted = {},
                             .confusions = {}};
  evaluation.macro = mean_by(evaluation.classes, [](const ClassScore& one) { return one.occurs() ? 1.0 : 0.0; });
  evaluation.weighted = mean_by(evaluation.classes, [](const ClassScore& one) { return static_cast<double>(one.support); });
  for (const auto& [cell, count] : cells_) evaluation.confusions.push_back({.label = cell.first, .answer = cell.second, .count = count});
  return evaluation;
}

}  // namespace trireme::report
