// SPDX-License-Identifier: Apache-2.0
// Segments, copies and continuations, each a `trireme train` of its own.
#include "trireme/experiment/search_trainings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/options.h"
#include "trireme/experiment/experiment.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/job/strategy_text.h"

namespace trireme::experiment {
namespace {

constexpr const char* kDiverged = "the loss is";  // in the words of a training that ended so

bool is_run(const std::filesystem::path& path) { return std::filesystem::exists(path / "config.toml"); }

bool has_diverged(const std::filesystem::path& records) {
  const std::filesystem::path failure = records / "failure.txt";
  return std::filesystem::exists(failure) && read_file(failure).find(kDiverged) != std::string::npos;
}

std::string percent(int at, int grid) { return fmt::format("{:g} %", 100.0 * at / grid); }

}  // namespace

Config with_strategy(const Config& job, const std::string& strategy) {
  train::StrategyPart part = train::parse_strategy(strategy, "strategy");
  OptionLister lister;
  train::find_strategy(part.name).options.visit(part.options, lister);
  Config::Table table{{"name", Config(part.name, "search")}};
  if (const Config* old = job.find("strategy")) {
    for (const OptionRow& shared : list_options<train::TeamOptions>())
      if (const Config* value = old->find(shared.name)) table.emplace_back(shared.name, *value);
  }
  Config::Table rows = job.table();
  std::erase_if(rows, [](const auto& row) { return row.first == "strategy"; });
  rows.emplace_back("strategy", Config(std::move(table), "search"));
  Config changed(std::move(rows), job.origin());
  for (const OptionRow& option : lister.rows) changed.set("strategy." + option.name, option.value, "search");
  return changed;
}

void copy_run(const std::filesystem::path& run, const std::filesystem::path& copy) {
  const std::filesystem::path unfinished = copy.string() + ".part";
  std::filesystem::remove_all(unfinished);
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(run / "checkpoints"))
    if (entry.path().filename().string().starts_with("step-")) newest = std::max(newest, entry.path());
  if (newest.empty()) throw Error{data_loss, "{} has no checkpoint to copy", run.string()};
  make_directories(unfinished / "checkpoints");
  for (const char* file : {"config.toml", "journal.jsonl", "algorithms.json"})
    if (std::filesystem::exists(run / file)) std::filesystem::copy_file(run / file, unfinished / file);
  std::filesystem::copy(newest, unfinished / "checkpoints" / newest.filename(), std::filesystem::copy_options::recursive);
  std::filesystem::rename(unfinished, copy);
}

SearchTrainings::SearchTrainings(SearchRequest request, const std::atomic<int>& stop, OnPiecePosition on_position)
    : request_(std::move(request)), stop_(stop), on_position_(std::move(on_position)) {}

std::filesystem::path SearchTrainings::seed_folder(std::int64_t seed) const { return request_.out / fmt::format("seed-{}", seed); }

std::filesystem::path SearchTrainings::fork(std::int64_t seed, int at) const {
  return seed_folder(seed) / fmt::format("fork-{}-of-{}", at, request_.grid);
}

std::string SearchTrainings::job_file(std::int64_t seed, const std::string& strategy) const {
  Config job = with_strategy(request_.job, strategy);
  job.set("train.seed", fmt::format("{}", seed), "search");
  return job_file_text(job);
}

ChildOutcome SearchTrainings::train(const Piece& piece) {
  std::vector<std::string> arguments = piece.arguments;
  arguments.insert(arguments.end(), {"-n", fmt::format("{}", request_.nodes), "--keep-nodes", "0"});
  arguments.insert(arguments.end(), request_.train_arguments.begin(), request_.train_arguments.end());
  return run_child_training({.arguments = std::move(arguments),
                             .folder = piece.records,
                             .journal = piece.run / "journal.jsonl",
                             .how_to_go_on = fmt::format("trireme search --out {}", request_.out.string())},
                            stop_, [&](const JournalTail::Position& position) { on_position_(piece.title, position); });
}

// Begins the run, or goes on with it.
std::vector<std::string> SearchTrainings::begin_or_resume(const std::filesystem::path& runs, const std::string& job) const {
  if (is_run(runs / "latest")) return {"--resume", (runs / "latest").string()};
  const std::filesystem::path file = runs / (request_.stem + ".toml");
  write_file_atomically(file, job);
  return {file.string(), "--runs", runs.string()};
}

void SearchTrainings::train_baseline(std::int64_t seed, int to) {
  const std::filesystem::path runs = seed_folder(seed) / "baseline";
  Piece piece{.arguments = begin_or_resume(runs, job_file(seed, request_.from)),
              .records = seed_folder(seed) / fmt::format("baseline-to-{}-of-{}", to, request_.grid),
              .run = runs / "latest",
              .title = fmt::format("seed {}, {} up to {}", seed, request_.from, percent(to, request_.grid))};
  if (to < request_.grid) piece.arguments.insert(piece.arguments.end(), {"--until", fmt::format("{}", 1.0 * to / request_.grid)});
  const ChildOutcome outcome = train(piece);
  if (!outcome.is_success) throw Error{aborted, "{} failed: {}; its words are in {}", piece.title, outcome.failure, piece.records.string()};
}

SearchTrainings::Result SearchTrainings::baseline(std::int64_t seed) {
  const std::filesystem::path run = seed_folder(seed) / "baseline" / "latest";
  for (int at = 1; at < request_.grid; ++at) {
    if (std::filesystem::exists(fork(seed, at))) continue;
    train_baseline(seed, at);
    copy_run(run, fork(seed, at));
  }
  if (const Result known = result_of(run); known.is_complete) return known;
  train_baseline(seed, request_.grid);
  const Result result = result_of(run);
  if (!result.is_complete) throw Error{aborted, "{} ended well, but did not train to the end", run.string()};
  return result;
}

SearchTrainings::Result SearchTrainings::switched(std::int64_t seed, int at) {
  const std::filesystem::path folder = seed_folder(seed) / fmt::format("switch-at-{}-of-{}", at, request_.grid);
  const std::filesystem::path records = folder.string() + "-records";
  const std::filesystem::path run = at == 0 ? folder / "latest" : folder;
  if (const Result known = result_of(run); known.is_complete) return known;
  if (has_diverged(records)) return {.accuracy = 0, .is_complete = true, .diverged = true};
  const std::string job = job_file(seed, request_.to);
  if (at > 0 && !is_run(run)) {
    const std::filesystem::path fresh = folder.string() + ".fresh";
    std::filesystem::remove_all(fresh);
    copy_run(fork(seed, at), fresh);
    write_file_atomically(fresh / "config.toml", job);
    std::filesystem::rename(fresh, folder);
  }
  const Piece piece{.arguments = at == 0 ? begin_or_resume(folder, job) : std::vector<std::string>{"--resume", run.string()},
                    .records = records,
                    .run = run,
                    .title = fmt::format("seed {}, {} from {} on", seed, request_.to, percent(at, request_.grid))};
  const ChildOutcome outcome = train(piece);
  if (has_diverged(records)) return {.accuracy = 0, .is_complete = true, .diverged = true};
  const Result result = result_of(run);
  if (!outcome.is_success || !result.is_complete)
    throw Error{aborted, "{} failed: {}; its words are in {}", piece.title, outcome.failure, records.string()};
  return result;
}

SearchTrainings::Result SearchTrainings::result_of(const std::filesystem::path& run) {
  if (!std::filesystem::exists(run / "journal.jsonl")) return {};
  const RunSummary summary = summarize(observe::read_journal(run / "journal.jsonl"));
  return {.accuracy = summary.accuracy,
          .samples = summary.samples,
          .training_seconds = summary.training_seconds,
          .is_complete = summary.is_complete};
}

double SearchTrainings::seconds_spent() const {
  double seconds = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(request_.out))
    if (entry.path().filename() == "resources.json") seconds += resource_use_from_json(read_file(entry.path())).seconds;
  return seconds;
}

}  // namespace trireme::experiment
