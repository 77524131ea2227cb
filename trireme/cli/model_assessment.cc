// SPDX-License-Identifier: Apache-2.0
// Opens the part, and assesses with a progress line.
#include "trireme/cli/model_assessment.h"

#include <unistd.h>

#include "trireme/base/clock.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/count_progress.h"

namespace trireme::cli {

std::shared_ptr<const data::Source> samples_of_part(const TrainedModel& model, const std::string& part) {
  const data::DataSets sets = data::open_data(model.job.data, run::cache_directory());
  auto samples = data::part_named(sets, part);
  train::check_fit(model.job.graph, samples->format(), model.job.data.title());
  return samples;
}

run::Assessment assess_model(TrainedModel& model, const std::shared_ptr<const data::Source>& samples, const AssessmentRequest& request,
                             const run::Console& console, const std::function<void(const run::Assessment&, const run::Assessed&)>& use) {
  const SteadyClock clock;
  train::Evaluator evaluator = make_evaluator(model, clock);
  const run::Assessed assessed{.graph = model.job.graph,
                               .evaluator = evaluator,
                               .samples = samples,
                               .normalization = model.checkpoint.normalization,
                               .values = model.values(),
                               .class_names = model.checkpoint.class_names};
  run::CountProgress progress(console.err, clock,
                              {.terminal = run::rewrites_lines(STDERR_FILENO), .what = "samples", .total = samples->size()});
  const auto goes_on = [&](std::int64_t done) {
    progress.at(done);
    return true;
  };
  run::Assessment assessment = run::assess(assessed, {.mistakes = request.mistakes, .goes_on = goes_on}, clock);
  assessment.evaluation.part = request.part;
  assessment.evaluation.checkpoint = model.directory.filename().string();
  assessment.evaluation.weights = model.weights();
  if (use) use(assessment, assessed);
  return assessment;
}

}  // namespace trireme::cli
