// SPDX-License-Identifier: Apache-2.0
// Tallies of a pass, and a heap of the worst mistakes.
#include "trireme/run/learned/assessment.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "trireme/report/scores/class_tally.h"
#include "trireme/report/scores/number_tally.h"

namespace trireme::run {
namespace {

// log(sum(exp(x))) - x[label], as the loss softmax_cross_entropy has it.
double cross_entropy(std::span<const float> outputs, std::int64_t label) {
  const double highest = *std::ranges::max_element(outputs);
  double sum = 0;
  for (const float output : outputs) sum += std::exp(output - highest);
  return highest + std::log(sum) - outputs[static_cast<std::size_t>(label)];
}

double mean_squared_error(std::span<const float> outputs, std::span<const float> truth) {
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double difference = static_cast<double>(outputs[i]) - static_cast<double>(truth[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(outputs.size());
}

class Pass {
 public:
  Pass(const Assessed& assessed, std::size_t mistakes) : assessed_(assessed), max_mistakes_(mistakes) {
    const std::int64_t outputs = assessed.graph.node(assessed.graph.output()).shape.count();
    if (classifies(assessed.graph))
      classes_.emplace(outputs);
    else
      numbers_.emplace(static_cast<std::size_t>(outputs));
  }

  void add(std::int64_t index, std::span<const float> outputs) {
    ++samples_;
    if (classes_)
      add_class(index, outputs);
    else
      add_numbers(index, outputs);
  }

  Assessment finish() {
    std::ranges::sort(mistakes_, is_worse);
    Assessment assessment{.evaluation = {}, .wrong = wrong_, .mistakes = std::move(mistakes_)};
    report::Evaluation& evaluation = assessment.evaluation;
    evaluation.samples = samples_;
    evaluation.of = assessed_.samples->size();
    evaluation.loss = loss_ / static_cast<double>(std::max<std::int64_t>(samples_, 1));
    if (classes_) evaluation.classes = classes_->finish(assessed_.class_names);
    if (numbers_) evaluation.numbers = numbers_->finish();
    return assessment;
  }

 private:
  static bool is_worse(const Mistake& a, const Mistake& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.sample < b.sample;
  }

  void add_class(std::int64_t index, std::span<const float> outputs) {
    const std::int64_t label = assessed_.samples->label(index);
    classes_->add(label, outputs);
    loss_ += cross_entropy(outputs, label);
    const std::int64_t answer = report::answer_of(outputs);
    if (answer == label) return;
    ++wrong_;
    std::vector<float> probabilities(outputs.begin(), outputs.end());
    train::softmax(probabilities);
    const double severity = probabilities[static_cast<std::size_t>(answer)];
    keep({.sample = index, .severity = severity, .outputs = std::move(probabilities)});
  }

  void add_numbers(std::int64_t index, std::span<const float> outputs) {
    const std::span<const float> truth = assessed_.samples->target(index);
    numbers_->add(truth, outputs);
    const double error = mean_squared_error(outputs, truth);
    loss_ += error;
    keep({.sample = index, .severity = error, .outputs = {outputs.begin(), outputs.end()}});
  }

  // The least severe of those kept stands in front.
  void keep(Mistake mistake) {
    if (max_mistakes_ == 0 || !std::isfinite(mistake.severity)) return;
    if (mistakes_.size() == max_mistakes_) {
      if (!is_worse(mistake, mistakes_.front())) return;
      std::ranges::pop_heap(mistakes_, is_worse);
      mistakes_.pop_back();
    }
    mistakes_.push_back(std::move(mistake));
    std::ranges::push_heap(mistakes_, is_worse);
  }

  const Assessed& assessed_;
  std::size_t max_mistakes_;
  std::optional<report::ClassTally> classes_;
  std::optional<report::NumberTally> numbers_;
  std::int64_t samples_ = 0, wrong_ = 0;
  double loss_ = 0;
  std::vector<Mistake> mistakes_;
};

}  // namespace

bool classifies(const graph::Graph& graph) { return graph.loss() == "softmax_cross_entropy"; }

Assessment assess(const Assessed& assessed, const AssessmentOptions& options, const Clock& clock) {
  const Seconds start = clock.now();
  Pass pass(assessed, options.mistakes);
  assessed.evaluator.run(
      assessed.samples, assessed.normalization, assessed.values,
      [&](std::int64_t index, std::span<const float> outputs) { pass.add(index, outputs); }, options.goes_on);
  Assessment assessment = pass.finish();
  // A loss from outside of the tree has a definition of its own.
  if (!classifies(assessed.graph) && assessed.graph.loss() != "mean_squared_error")
    assessment.evaluation.loss = assessed.evaluator.score(assessed.samples, assessed.normalization, assessed.values).loss;
  assessment.evaluation.seconds = (clock.now() - start).count();
  return assessment;
}

}  // namespace trireme::run
