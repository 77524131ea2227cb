// SPDX-License-Identifier: Apache-2.0
// Finds the newest good checkpoint of a run, or loads the one that is named.
#include "trireme/cli/trained_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/run/setup/algorithm_memory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/train/checkpoint/run_directory.h"

namespace trireme::cli {
namespace {

bool is_checkpoint(const std::filesystem::path& path) { return std::filesystem::exists(path / "manifest.json"); }

void load_newest(TrainedModel& model, const train::RunDirectory& run, const run::Console& console) {
  auto loaded = train::CheckpointStore(run.checkpoints(), model.job.graph).load_newest();
  if (!loaded) throw Error{not_found, "{} has no checkpoint yet", run.path().string()};
  for (const std::string& warning : loaded->warnings) console.err << "trireme: warning: " << warning << "\n";
  model.checkpoint = std::move(loaded->checkpoint);
  model.directory = loaded->directory;
}

// Other data are to be tested: the share of the run's own that was held out for it is no question any more.
void leave_out_split(Config& config, const std::vector<std::string>& settings) {
  const auto sets = [&](std::string_view key) {
    return std::ranges::any_of(settings, [&](const std::string& setting) { return setting.starts_with(key); });
  };
  if (sets("data.test=") && !sets("data.test_split=")) config.set("data.test_split", "0", "--set data.test");
}

}  // namespace

std::filesystem::path run_of(const std::filesystem::path& path) {
  // RUN/checkpoints/step-00000123
  return is_checkpoint(path) ? std::filesystem::absolute(path).lexically_normal().parent_path().parent_path() : path;
}

std::string TrainedModel::class_title(std::int64_t number) const {
  const auto index = static_cast<std::size_t>(number);
  if (index >= checkpoint.class_names.size()) return std::to_string(number);
  return checkpoint.class_names[index];
}

std::string TrainedModel::title() const {
  if (!is_best) return directory.string();
  return fmt::format("{}, weights of epoch {} (the best; --last: of step {})", directory.string(), checkpoint.cursor.best_epoch + 1,
                     checkpoint.cursor.step);
}

TrainedModel load_trained_model(const std::filesystem::path& path, const std::vector<std::string>& settings, const run::Console& console,
                                Weights weights) {
  const auto run = train::RunDirectory::open(run_of(path));
  Config config = run::load_job(run.config().string(), settings);
  leave_out_split(config, settings);
  run::resolve_data(config, console);
  TrainedModel model{.job = train::job_from_config(config)};
  if (is_checkpoint(path)) {
    model.checkpoint = train::load_checkpoint(path, model.job.graph);
    model.directory = path;
  } else {
    load_newest(model, run, console);
    if (weights == Weights::best) model.is_best = train::use_best(model.checkpoint);
  }
  return model;
}

train::Evaluator make_evaluator(const TrainedModel& model, const Clock& clock) {
  return {model.job.graph,
          {.batch_size = model.job.train.batch_size,
           .threads = static_cast<int>(model.job.train.threads),
           .algorithm_cache = run::algorithm_cache()},
          clock};
}

}  // namespace trireme::cli
