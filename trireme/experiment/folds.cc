// SPDX-License-Identifier: Apache-2.0
// Each fold is a `trireme train` of its own, with data.folds and data.fold set.
#include "trireme/experiment/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"

namespace trireme::experiment {
namespace {

constexpr const char* kFoldsFile = "folds.json";

// Two trainings of different jobs are no cross-validation.
void claim_folder(const FoldsRequest& request) {
  const std::filesystem::path file = request.folder / kFoldsFile;
  const std::string text = Json{{"job_hash", request.job_hash}, {"folds", request.folds}}.dump(1) + "\n";
  if (!std::filesystem::exists(file)) return write_file_atomically(file, text);
  if (read_file(file) != text)
    throw Error{failed_precondition, "{} has folds of another job, other settings or another number; give another --folds-dir",
                request.folder.string()};
}

std::string words_of(const FoldRun& fold, bool has_accuracy) {
  if (!fold.run) return "failed: " + fold.failure;
  const RunSummary& summary = fold.run->summary;
  const std::string score = has_accuracy ? fmt::format("accuracy {:.4f}", summary.accuracy) : fmt::format("loss {:.4f}", summary.loss);
  return fmt::format("{} in {}", score, in_hours(summary.seconds));
}

bool has_accuracy(const FoldRun& fold) { return fold.run && fold.run->summary.accuracy > 0; }

Sample sample_of(const std::vector<FoldRun>& runs, double RunSummary::*measure) {
  Sample sample;
  for (const FoldRun& fold : runs)
    if (fold.run) sample.values.push_back(fold.run->summary.*measure);
  return sample;
}

Json to_json(const Sample& sample) {
  Json json{{"mean", sample.size() > 0 ? Json(sample.mean()) : Json()}};
  json["sd"] = sample.size() > 1 ? Json(sample.sd()) : Json();
  return json;
}

std::string share(double value) { return fmt::format("{:.2f} %", 100 * value); }
std::string number(double value) { return fmt::format("{:.4f}", value); }
std::string spread(const Sample& sample, std::string (*format)(double)) { return sample.size() > 1 ? format(sample.sd()) : "–"; }

}  // namespace

bool FoldsOutcome::is_whole() const {
  return std::ranges::all_of(runs, [](const FoldRun& fold) { return fold.run.has_value(); });
}

bool FoldsOutcome::has_accuracy() const {
  return std::ranges::any_of(runs, [](const FoldRun& fold) { return experiment::has_accuracy(fold); });
}

Sample FoldsOutcome::losses() const { return sample_of(runs, &RunSummary::loss); }

Sample FoldsOutcome::accuracies() const { return sample_of(runs, &RunSummary::accuracy); }

FoldTrainings::FoldTrainings(FoldsRequest request) : request_(std::move(request)) {
  make_directories(request_.folder);
  claim_folder(request_);
}

std::filesystem::path FoldTrainings::folder_of(std::int64_t fold) const { return request_.folder / fmt::format("fold-{}", fold); }

std::vector<std::string> FoldTrainings::begin_or_resume(std::int64_t fold) const {
  const std::filesystem::path latest = folder_of(fold) / "latest";
  std::vector<std::string> arguments;
  if (std::filesystem::exists(latest / "config.toml")) {
    arguments = {"--resume", latest.string()};
  } else {
    arguments = {request_.job_file, "--runs", folder_of(fold).string()};
    std::vector<std::string> settings = request_.settings;
    settings.push_back(fmt::format("data.folds={}", request_.folds));
    settings.push_back(fmt::format("data.fold={}", fold));
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  }
  arguments.insert(arguments.end(), request_.train_arguments.begin(), request_.train_arguments.end());
  return arguments;
}

FoldRun FoldTrainings::train_fold(std::int64_t fold, ExperimentProgress& progress, const std::atomic<int>& stop) const {
  const std::filesystem::path folder = folder_of(fold);
  progress.begin(fmt::format("fold {}", fold));
  const ChildOutcome outcome = run_child_training({.arguments = begin_or_resume(fold),
                                                   .folder = folder,
                                                   .journal = folder / "latest" / "journal.jsonl",
                                                   .how_to_go_on = request_.how_to_go_on},
                                                  stop, [&](const JournalTail::Position& position) { progress.on_position(position); });
  FoldRun out{.fold = fold};
  if (outcome.is_success) out.run = find_finished_run(folder);
  if (!out.run) out.failure = outcome.is_success ? "it ended well, but did not train to the end" : outcome.failure;
  progress.end(words_of(out, has_accuracy(out)), outcome.use.seconds);
  return out;
}

FoldsOutcome FoldTrainings::train(ExperimentProgress& progress, const std::atomic<int>& stop) {
  FoldsOutcome outcome;
  for (std::int64_t fold = 1; fold <= request_.folds; ++fold) {
    auto known = find_finished_run(folder_of(fold));
    if (known) {
      progress.skip(known->use ? known->use->seconds : kUnknown);
      outcome.runs.push_back({.fold = fold, .run = std::move(known)});
      continue;
    }
    outcome.runs.push_back(train_fold(fold, progress, stop));
    // The others would fail in the same way.
    if (outcome.losses().size() == 0)
      throw Error{aborted, "fold {} failed: {}; its words are in {}", fold, outcome.runs.back().failure,
                  (folder_of(fold) / "log.txt").string()};
  }
  return outcome;
}

std::string to_text(const FoldsOutcome& outcome) {
  using Align = TextTable::Align;
  const bool classes = outcome.has_accuracy();
  std::vector<TextTable::Column> columns{{"fold"}, {"held out", Align::right}, {"epochs", Align::right}, {"loss", Align::right}};
  if (classes) columns.push_back({"accuracy", Align::right});
  columns.push_back({"time", Align::right});
  columns.push_back({"run"});
  TextTable table(columns);
  const auto row = [&](std::vector<std::string> cells, const std::string& accuracy, std::string time, std::string run) {
    if (classes) cells.push_back(accuracy);
    cells.insert(cells.end(), {std::move(time), std::move(run)});
    table.add_row(std::move(cells));
  };
  for (const FoldRun& fold : outcome.runs) {
    const std::string title = std::to_string(fold.fold);
    if (!fold.run) {
      row({title, "–", "–", "–"}, "–", "–", "failed: " + fold.failure);
      continue;
    }
    const RunSummary& summary = fold.run->summary;
    row({title, with_thousands(summary.samples), std::to_string(summary.epochs.size()), number(summary.loss)}, share(summary.accuracy),
        in_hours(summary.seconds), fold.run->directory.string());
  }
  const Sample losses = outcome.losses();
  const Sample accuracies = outcome.accuracies();
  if (losses.size() == 0) return table.to_string();
  row({"mean", "", "", number(losses.mean())}, share(accuracies.mean()), "", "");
  row({"spread", "", "", spread(losses, number)}, spread(accuracies, share), "", "standard deviation of the folds");
  return table.to_string();
}

std::string to_json(const FoldsOutcome& outcome, const FoldsRequest& request) {
  Json runs = Json::array();
  for (const FoldRun& fold : outcome.runs) {
    Json row{{"fold", fold.fold}};
    if (fold.run) {
      const RunSummary& summary = fold.run->summary;
      row.update({{"run", fold.run->directory.string()},
                  {"samples", summary.samples},
                  {"epochs", summary.epochs.size()},
                  {"loss", summary.loss},
                  {"seconds", summary.seconds}});
      if (outcome.has_accuracy()) row["accuracy"] = summary.accuracy;
    } else {
      row["failure"] = fold.failure;
    }
    runs.push_back(std::move(row));
  }
  Json json{{"job", request.job_file},        {"folder", request.folder.string()}, {"folds", request.folds},
            {"complete", outcome.is_whole()}, {"runs", std::move(runs)},           {"loss", to_json(outcome.losses())}};
  if (outcome.has_accuracy()) json["accuracy"] = to_json(outcome.accuracies());
  return json.dump(2) + "\n";
}

}  // namespace trireme::experiment
