// SPDX-License-Identifier: Apache-2.0
// errors: the samples about which a trained model is wrong and most certain, as a page with pictures, rows or curves.
#include <fmt/format.h>

#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/model_assessment.h"
#include "trireme/report/scores/evaluation_json.h"
#include "trireme/run/learned/sample_documents.h"
#include "trireme/web/page.h"

namespace trireme::cli::commands {
namespace {

constexpr std::int64_t kPictureEdge = 224;  // pixels

struct Options {
  std::string model;
  std::string out = "errors.html";
  std::string part = "test";
  std::int64_t limit = 100;
  std::vector<std::string> settings;
  bool last = false;
  bool json = false;
};

Json document_of(const Options& o, const TrainedModel& model, const run::Assessment& assessment, const run::Assessed& assessed) {
  Json mistakes = run::mistakes_document(assessment, assessed, kPictureEdge);
  mistakes["part"] = o.part;
  const std::filesystem::path run = run_of(model.directory);
  return {{"version", 1},
          {"errors_of", run.filename().string()},
          {"directory", model.directory.string()},
          {"data", model.job.data.title()},
          {"evaluation", report::json_of(assessment.evaluation)},
          {"mistakes", std::move(mistakes)}};
}

std::string summary(const run::Assessment& assessment, const std::string& part) {
  const report::Evaluation& evaluation = assessment.evaluation;
  if (!evaluation.classes)
    return fmt::format("the {} largest errors of {} {} samples", assessment.mistakes.size(), with_thousands(evaluation.samples), part);
  return fmt::format("{} of {} {} samples are answered wrongly ({:.2f} %){}", with_thousands(assessment.wrong),
                     with_thousands(evaluation.samples), part, 100 * (1 - evaluation.classes->accuracy),
                     assessment.wrong > static_cast<std::int64_t>(assessment.mistakes.size())
                         ? fmt::format("; shown are the {} most confident", assessment.mistakes.size())
                         : "");
}

int run(const Options& o, const run::Console& console) {
  if (!o.json) web::require_page("a page of errors");
  TrainedModel model = load_trained_model(o.model, o.settings, console, o.last ? Weights::last : Weights::best);
  const auto samples = samples_of_part(model, o.part);
  Json document;
  const run::Assessment assessment =
      assess_model(model, samples, {.part = o.part, .mistakes = static_cast<std::size_t>(o.limit)}, console,
                   [&](const run::Assessment& made, const run::Assessed& assessed) { document = document_of(o, model, made, assessed); });
  const std::string text = document.dump(o.json ? 2 : -1, ' ', false, Json::error_handler_t::replace);
  if (o.json) {
    console.out << text << "\n";
    return 0;
  }
  write_file_atomically(o.out, web::page_with(text));
  console.out << summary(assessment, o.part) << "\n";
  console.err << fmt::format("wrote {}\n", o.out);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("model", options->model, "a run, or one of its checkpoints").required().shown_as("RUN");
  arguments.option("-o,--output", options->out, "the page; it needs nothing else, and has samples of the data in it")
      .shown_as("FILE")
      .shows_default();
  arguments.option("--part", options->part, "of the data: train, validation or test")
      .one_of({"train", "validation", "test"})
      .shows_default();
  arguments.option("--limit", options->limit, "samples to show").between(std::int64_t{1}, std::int64_t{10'000}).shows_default();
  arguments.option("--set", options->settings, "change a setting of the run's job, e.g. data.test=other.csv")
      .shown_as("TABLE.KEY=VALUE")
      .one_at_a_time();
  arguments.flag("--last", options->last, "the weights after the last step, not those of the best epoch (train.keep_best)");
  arguments.flag("--json", options->json, "print JSON instead");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry errors() {
  return {.name = "errors", .summary = "what a trained model gets wrong: its most confident mistakes on a page", .declare = declare};
}

}  // namespace trireme::cli::commands
