// SPDX-License-Identifier: Apache-2.0
// Assesses the trained model in this process, on samples in an order of their own, so that a part of them stands for all.
#include "trireme/run/learned/run_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/table.h"
#include "trireme/data/source/permutation.h"
#include "trireme/data/source/subset.h"
#include "trireme/report/scores/evaluation_json.h"
#include "trireme/run/learned/assessment.h"
#include "trireme/run/learned/sample_documents.h"
#include "trireme/train/checkpoint/checkpoint.h"

namespace trireme::run {
namespace {

constexpr std::int64_t kExamples = 16;
constexpr std::size_t kMistakes = 32;
constexpr std::size_t kWeakest = 3;
constexpr std::int64_t kMaxBatch = 256;  // the whole batch of many nodes may not fit one

// A file name or a class that is no UTF-8 becomes a sign of replacement.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string part_of(const data::DataSets& data) { return data.test != nullptr ? "test" : data.validation != nullptr ? "validation" : ""; }

train::Evaluator evaluator_of(const RunFindings& findings, const std::atomic<int>& stop) {
  const train::TrainOptions& train = findings.job.train;
  return {findings.job.graph,
          {.batch_size = std::min(train.batch_size, kMaxBatch),
           .threads = static_cast<int>(train.threads),
           .algorithm_cache = findings.algorithms,
           .gives_up = [&stop] { return stop != 0; }},
          findings.clock};
}

std::string line_for_people(const report::Evaluation& evaluation) {
  std::string line;
  if (evaluation.samples < evaluation.of)
    line = fmt::format("scores of classes are of {} of {} {} samples (observe.evaluation_seconds)\n", with_thousands(evaluation.samples),
                       with_thousands(evaluation.of), evaluation.part);
  if (!evaluation.classes || evaluation.classes->classes.size() < 3) return line;
  std::string weakest;
  for (const std::size_t i : weakest_classes(*evaluation.classes, kWeakest)) {
    const report::ClassScore& one = evaluation.classes->classes[i];
    if (one.f1 < 1) weakest += fmt::format("{}{} {:.2f}", weakest.empty() ? "" : ", ", one.name, one.f1);
  }
  return weakest.empty() ? line : line + fmt::format("weakest  F1 of {}\n", weakest);
}

}  // namespace

void write_examples(const RunFindings& findings) {
  const Json examples = examples_document(findings.data, findings.job.data, static_cast<std::uint64_t>(findings.job.train.seed), kExamples);
  findings.write(kExamplesFile, text_of(examples));
}

std::string write_evaluation(const RunFindings& findings, const std::filesystem::path& checkpoint, const std::atomic<int>& stop) {
  const std::string part = part_of(findings.data);
  const double limit = findings.job.observe.evaluation_seconds;
  if (part.empty() || limit <= 0) return "";
  const Seconds start = findings.clock.now();
  auto all = data::part_named(findings.data, part);
  const std::int64_t size = all->size();
  const auto samples = std::make_shared<data::Subset>(std::move(all), data::epoch_permutation(size, 1, 0));
  train::Checkpoint model = train::load_checkpoint(checkpoint, findings.job.graph);
  const bool is_best = train::use_best(model);
  train::Evaluator evaluator = evaluator_of(findings, stop);
  const Assessed assessed{.graph = findings.job.graph,
                          .evaluator = evaluator,
                          .samples = samples,
                          .normalization = model.normalization,
                          .values = {.parameters = model.parameters, .states = model.states},
                          .class_names = model.class_names};
  const auto goes_on = [&](std::int64_t done) {
    if (findings.progress) findings.progress(done, size);
    return stop == 0 && (done == 0 || (findings.clock.now() - start).count() < limit);
  };
  Assessment assessment = assess(assessed, {.mistakes = findings.job.observe.samples ? kMistakes : 0, .goes_on = goes_on}, findings.clock);
  if (stop != 0) throw Error{cancelled, "interrupted"};
  assessment.evaluation.part = part;
  assessment.evaluation.checkpoint = checkpoint.filename().string();
  assessment.evaluation.weights = is_best ? "best" : "last";
  findings.write(kEvaluationFile, text_of(report::json_of(assessment.evaluation)));
  if (findings.job.observe.samples) {
    Json mistakes = mistakes_document(assessment, assessed, kRunPictureEdge);
    mistakes["part"] = part;
    findings.write(kMistakesFile, text_of(mistakes));
  }
  return line_for_people(assessment.evaluation);
}

}  // namespace trireme::run
