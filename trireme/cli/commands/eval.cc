// SPDX-License-Identifier: Apache-2.0
// eval: the score of a trained model on a part of its data, or on other data.
#include <fmt/format.h>

#include <memory>

#include "trireme/base/clock.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/trained_model.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string model;
  std::string part = "test";
  std::vector<std::string> settings;
  bool last = false;
  bool json = false;
};

int run(const Options& o, const run::Console& console) {
  const SteadyClock clock;
  TrainedModel model = load_trained_model(o.model, o.settings, console, o.last ? Weights::last : Weights::best);
  const data::DataSets sets = data::open_data(model.job.data, run::cache_directory());
  const auto samples = data::part_named(sets, o.part);
  train::check_fit(model.job.graph, samples->format(), model.job.data.title());
  train::Evaluator evaluator = make_evaluator(model, clock);
  const Seconds start = clock.now();
  const train::Score score = evaluator.score(samples, model.checkpoint.normalization, model.values());
  const double seconds = (clock.now() - start).count();
  if (o.json) {
    console.out << Json{{"checkpoint", model.directory.string()},
                        {"weights", model.weights()},
                        {"part", o.part},
                        {"samples", score.samples},
                        {"loss", score.loss},
                        {"accuracy", score.accuracy},
                        {"seconds", seconds}}
                       .dump(2)
                << "\n";
    return 0;
  }
  console.out << fmt::format("{}: {} samples of {} ({})\nloss {:.4f}", model.title(), with_thousands(score.samples), model.job.data.title(),
                             o.part, score.loss);
  if (samples->format().classes > 0) console.out << fmt::format("  accuracy {:.2f} %", 100 * score.accuracy);
  console.out << fmt::format("  {:.0f} samples/s\n", static_cast<double>(score.samples) / std::max(seconds, 1e-9));
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("model", options->model, "a run, or one of its checkpoints").required().shown_as("RUN");
  arguments.option("--part", options->part, "of the data: train, validation or test")
      .one_of({"train", "validation", "test"})
      .shows_default();
  arguments.option("--set", options->settings, "change a setting of the run's job, e.g. data.test=other.csv")
      .shown_as("TABLE.KEY=VALUE")
      .one_at_a_time();
  arguments.flag("--last", options->last, "the weights after the last step, not those of the best epoch (train.keep_best)");
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry eval() { return {.name = "eval", .summary = "measure a trained model on a part of its data", .declare = declare}; }

}  // namespace trireme::cli::commands
