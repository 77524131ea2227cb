// SPDX-License-Identifier: Apache-2.0
// One pass of a trained model over labelled samples: its scores, and the worst mistakes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trireme/data/pipeline/transform.h"
#include "trireme/data/source/source.h"
#include "trireme/report/scores/evaluation.h"
#include "trireme/train/team/evaluator.h"

namespace trireme::run {

// What is assessed; all must outlive the call.
struct Assessed {
  const graph::Graph& graph;
  train::Evaluator& evaluator;
  std::shared_ptr<const data::Source> samples;
  const data::Normalization& normalization;
  train::ModelValues values;
  const std::vector<std::string>& class_names;
};

struct Mistake {
  std::int64_t sample = 0;
  double severity = 0;         // the probability of the wrong answer, or the mean squared error
  std::vector<float> outputs;  // probabilities, or the numbers that were predicted
};

struct AssessmentOptions {
  std::size_t mistakes = 0;  // to keep
  train::Evaluator::GoesOn goes_on = {};
};

struct Assessment {
  report::Evaluation evaluation;  // without part and checkpoint
  std::int64_t wrong = 0;         // of a classifier
  std::vector<Mistake> mistakes;  // the worst first
};

bool classifies(const graph::Graph& graph);

Assessment assess(const Assessed& assessed, const AssessmentOptions& options, const Clock& clock);

}  // namespace trireme::run
