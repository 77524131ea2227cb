// SPDX-License-Identifier: Apache-2.0
// The order of the steps, and epochs that fit into the time.
#include "trireme/inspect/first_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/inspect/inspect.h"
#include "trireme/inspect/recipe.h"

namespace trireme::inspect {
namespace {

constexpr std::int64_t kMinEpochs = 3;
constexpr std::int64_t kFewSamples = 100;

// With a little grace: 11 minutes are no reason to learn less.
void limit_epochs(double minutes, const Estimate& time, Recipe& recipe) {
  const double limit = minutes * 60;
  if (time.epoch_seconds * static_cast<double>(recipe.epochs) <= limit * 1.2) return;
  const std::int64_t wanted = recipe.epochs;
  recipe.epochs = std::clamp<std::int64_t>(static_cast<std::int64_t>(limit / time.epoch_seconds), kMinEpochs, wanted);
  recipe.epochs_why = fmt::format("as many as about {:.3g} minutes allow here; {} would learn more", minutes, wanted);
}

std::string training_lines(const Inspection& inspection, const Recipe& recipe) {
  std::string text = fmt::format("network: {}; {} epochs in batches of {}", recipe.network, recipe.epochs, recipe.batch_size);
  if (recipe.epochs_why.starts_with("as many as")) text += fmt::format(" ({})", recipe.epochs_why);
  text += fmt::format("\ntime: {}\n", recipe.estimate);
  if (inspection.samples < kFewSamples)
    text += fmt::format("note: {} samples are few; take the result for a first try\n", inspection.samples);
  return text;
}

}  // namespace

FirstJob first_job(const FirstJobRequest& request) {
  const Inspection inspection = inspect(request.path, request.wishes);
  Recipe recipe = recipe_for(inspection);
  const Estimate time = estimate(inspection, recipe, request.engine);
  limit_epochs(request.minutes, time, recipe);
  recipe.estimate = time.text(recipe.epochs);
  return {.text = job_text(inspection, recipe, request.base), .report = report_of(inspection) + training_lines(inspection, recipe)};
}

}  // namespace trireme::inspect
