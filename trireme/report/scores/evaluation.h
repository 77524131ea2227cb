// SPDX-License-Identifier: Apache-2.0
// What a trained model gets right and wrong on a part of its data, as plain numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace trireme::report {

// The mean of three measures over the classes that occur, as labels or as answers.
struct MeanScore {
  double precision = 0, recall = 0, f1 = 0;
};

// A measure without a case to measure is 0, as scikit-learn's zero_division = 0.
struct ClassScore {
  std::string name;
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t support = 0;  // samples with this label
  std::int64_t answers = 0;  // samples for which this class is the answer
  bool occurs() const { return support + answers > 0; }
};

// A cell of the confusion matrix.
struct Confusion {
  std::int64_t label = 0, answer = 0, count = 0;
};

struct ClassEvaluation {
  double accuracy = 0;
  std::int64_t k = 0;         // of the top-k accuracy; 0: too few classes for it
  double top_k_accuracy = 0;  // share of samples whose label is among the k highest outputs
  std::vector<ClassScore> classes;
  MeanScore macro, weighted;          // each class equal; each by its support
  std::vector<Confusion> confusions;  // cells above 0, by label, then answer
};

struct NumberScore {
  double mean_absolute_error = 0, root_mean_squared_error = 0;
  double r_squared = std::numeric_limits<double>::quiet_NaN();  // unknown for fewer than two samples
};

struct NumberEvaluation {
  NumberScore mean;                  // over the targets
  std::vector<NumberScore> targets;  // one for each number that is predicted
};

struct Evaluation {
  std::string part;        // train, validation, test
  std::string checkpoint;  // its folder's name
  std::string weights;     // "best": of its best epoch; "last": of its step
  std::int64_t samples = 0;
  std::int64_t of = 0;  // that the part has; more than `samples` if time ran out
  double seconds = 0;
  double loss = 0;
  std::optional<ClassEvaluation> classes;
  std::optional<NumberEvaluation> numbers;
};

// Cells off the diagonal, the most frequent first.
std::vector<Confusion> most_confused(const ClassEvaluation& classes, std::size_t limit);
// Of classes that occur as labels, the lowest F1 first.
std::vector<std::size_t> weakest_classes(const ClassEvaluation& classes, std::size_t limit);

}  // namespace trireme::report
