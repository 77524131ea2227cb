// SPDX-License-Identifier: Apache-2.0
// eval: scores of a trained model on a part of its data, or on other data, class by class.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/model_assessment.h"
#include "trireme/cli/trained_model.h"
#include "trireme/report/scores/evaluation_json.h"
#include "trireme/report/scores/evaluation_text.h"

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
  TrainedModel model = load_trained_model(o.model, o.settings, console, o.last ? Weights::last : Weights::best);
  const auto samples = samples_of_part(model, o.part);
  const report::Evaluation evaluation = assess_model(model, samples, {.part = o.part}, console).evaluation;
  if (o.json) {
    Json json = report::json_of(evaluation);
    json["checkpoint"] = model.directory.string();
    console.out << json.dump(2) << "\n";
    return 0;
  }
  console.out << fmt::format("{}: {} samples of {} ({})\nloss {:.4f}  {}  {:.0f} samples/s\n", model.title(),
                             with_thousands(evaluation.samples), model.job.data.title(), o.part, evaluation.loss,
                             report::headline(evaluation), static_cast<double>(evaluation.samples) / std::max(evaluation.seconds, 1e-9));
  const std::string tables = report::to_text(evaluation);
  if (!tables.empty()) console.out << "\n" << tables;
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

CommandEntry eval() {
  return {.name = "eval", .summary = "measure a trained model on a part of its data, class by class", .declare = declare};
}

}  // namespace trireme::cli::commands
