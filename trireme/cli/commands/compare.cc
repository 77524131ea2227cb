// SPDX-License-Identifier: Apache-2.0
// compare: trains variants of a job with several seeds, one after the other, and makes one table of them.
#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/cli/application.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/report_files.h"
#include "trireme/experiment/comparison.h"
#include "trireme/report/read/run_reader.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/web/page.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string out;
  experiment::ExperimentFlags flags;
  std::vector<std::string> train_arguments;
  double time_limit = 0;
  bool subtract_baseline = false;
  bool table_only = false;
  bool markdown = false;
  bool json = false;
};

constexpr const char* kExperimentFile = "experiment.toml";

std::filesystem::path new_folder(const Options& o) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return std::filesystem::path("compare") /
         fmt::format("{}-{:%Y%m%d-%H%M%S}", std::filesystem::path(o.files.front()).stem().string(), fmt::gmtime(now));
}

// With --out alone: what that folder was begun with.
experiment::Experiment experiment_of(const Options& o) {
  if (!o.files.empty()) return experiment::read_experiment(o.files, o.flags);
  const std::filesystem::path kept = std::filesystem::path(o.out) / kExperimentFile;
  if (o.out.empty() || !std::filesystem::exists(kept))
    throw Error{invalid_argument, "give job files, or --out FOLDER with the folder of a comparison that was begun"};
  return experiment::read_experiment({kept.string()}, o.flags);
}

// Of numbers to predict there is no accuracy.
std::string score_text(const experiment::RunSummary& summary) {
  const std::string score =
      std::isfinite(summary.accuracy) ? fmt::format("accuracy {:.4f}", summary.accuracy) : fmt::format("loss {:.4f}", summary.loss);
  return fmt::format("{} in {}", score, experiment::in_hours(summary.seconds));
}

class Comparing {
 public:
  Comparing(const Options& o, experiment::Experiment experiment, std::filesystem::path out, const run::Console& console)
      : options_(o), console_(console), out_(std::move(out)), comparison_{.experiment = std::move(experiment), .runs = {}} {
    for (const experiment::Variant& variant : comparison_.experiment.variants) {
      comparison_.runs.push_back({.variant = variant, .cells = {}});
      for (const std::int64_t seed : comparison_.experiment.seeds) comparison_.runs.back().cells.push_back(known_cell(variant, seed));
    }
  }

  // Seed by seed, with the variants inside, so that a machine that slowly changes is alike for all.
  void train_missing(const std::atomic<int>& stop) {
    write_file_atomically(out_ / kExperimentFile, to_toml(comparison_.experiment));
    const std::size_t seeds = comparison_.experiment.seeds.size();
    experiment::ExperimentProgress progress(console_.err, run::rewrites_lines(STDERR_FILENO),
                                            static_cast<int>(seeds * comparison_.runs.size()));
    for (std::size_t s = 0; s < seeds; ++s) {
      for (experiment::VariantRuns& variant : comparison_.runs) {
        experiment::RunCell& cell = variant.cells[s];
        if (cell.run)
          progress.skip(cell.run->use ? cell.run->use->seconds : experiment::kUnknown);
        else
          train(variant.variant, cell, progress, stop);
      }
    }
  }

  const experiment::Comparison& comparison() const { return comparison_; }

 private:
  experiment::RunCell known_cell(const experiment::Variant& variant, std::int64_t seed) const {
    const std::filesystem::path folder = out_ / fmt::format("{}-seed-{}", variant.folder, seed);
    experiment::RunCell cell{.seed = seed, .folder = folder.string(), .run = experiment::find_finished_run(folder), .failure = {}};
    if (cell.run && read_file(job_file(variant, folder)) != job_text(variant, seed))
      throw Error{failed_precondition, "{} was trained with another job; give another --out, or move that folder away", folder.string()};
    if (!cell.run && std::filesystem::exists(folder / "failure.txt")) {
      cell.failure = read_file(folder / "failure.txt");
      while (cell.failure.ends_with('\n')) cell.failure.pop_back();
    }
    return cell;
  }

  static std::filesystem::path job_file(const experiment::Variant& variant, const std::filesystem::path& folder) {
    return folder / (variant.folder + ".toml");
  }

  // A run that was cut short begins anew: the time of a whole one is wanted.
  void train(const experiment::Variant& variant, experiment::RunCell& cell, experiment::ExperimentProgress& progress,
             const std::atomic<int>& stop) {
    const std::filesystem::path folder = cell.folder;
    write_file_atomically(job_file(variant, folder), job_text(variant, cell.seed));
    std::filesystem::remove(folder / "latest");  // of an earlier attempt
    std::vector<std::string> arguments{
        job_file(variant, folder).string(), "-n", std::to_string(variant.nodes), "--runs", folder.string(), "--keep-nodes", "0"};
    arguments.insert(arguments.end(), options_.train_arguments.begin(), options_.train_arguments.end());
    progress.begin(fmt::format("{}, seed {}", variant.label, cell.seed));
    const experiment::ChildOutcome outcome =
        experiment::run_child_training({.arguments = std::move(arguments),
                                        .folder = folder,
                                        .journal = folder / "latest" / "journal.jsonl",
                                        .how_to_go_on = fmt::format("trireme compare --out {}", out_.string()),
                                        .time_limit = options_.time_limit},
                                       stop, [&](const experiment::JournalTail::Position& position) { progress.on_position(position); });
    cell.run = outcome.is_success ? experiment::find_finished_run(folder) : std::nullopt;
    cell.failure = cell.run ? "" : outcome.is_success ? "it ended well, but did not train to the end" : outcome.failure;
    progress.end(cell.run ? score_text(cell.run->summary) : "failed: " + cell.failure, outcome.use.seconds);
  }

  const Options& options_;
  const run::Console& console_;
  std::filesystem::path out_;
  experiment::Comparison comparison_;
};

report::ComparisonDocument document_of(const experiment::Comparison& comparison, bool subtracts_baseline) {
  std::vector<report::ComparedRun> runs;
  for (const experiment::VariantRuns& variant : comparison.runs)
    for (const experiment::RunCell& cell : variant.cells) {
      if (!cell.run) continue;
      runs.push_back(
          {.label = variant.variant.label, .document = report::read_run(cell.run->directory), .published = variant.variant.published});
      if (subtracts_baseline) report::subtract_baseline(runs.back().document);
    }
  return report::compare_runs(comparison.experiment.title, std::move(runs));
}

void keep_report(const report::ComparisonDocument& document, const std::filesystem::path& out) {
  if (document.runs.empty()) return;
  write_file_atomically(out / "report.md", report_text(document, ReportForm::markdown));
  // The trainings are not to be lost over it.
  if (web::page_absence().empty()) write_file_atomically(out / "report.html", report_text(document, ReportForm::page));
}

void mention_report(const std::filesystem::path& out, const run::Console& console) {
  const bool has_page = web::page_absence().empty();
  console.err << fmt::format("tables, figures and what makes the runs unlike: {}\n",
                             (out / (has_page ? "report.html" : "report.md")).string());
  if (!has_page) console.err << "note: " << web::absence_text("report.html", web::page_absence()) << "\n";
}

void keep_results(const experiment::Comparison& comparison, const std::filesystem::path& out) {
  write_file_atomically(out / "table.md", to_text(comparison, experiment::TableStyle::markdown));
  write_file_atomically(out / "table.json", to_json(comparison));
  write_file_atomically(out / "curves.csv", experiment::to_curves(comparison));
}

int run_one(const Options& o, const run::Console& console) {
  experiment::Experiment experiment = experiment_of(o);
  const std::filesystem::path out = std::filesystem::absolute(o.out.empty() ? new_folder(o) : std::filesystem::path(o.out));
  if (o.table_only && !std::filesystem::exists(out)) throw Error{not_found, "{}: there is nothing to make a table of", out.string()};
  Comparing comparing(o, std::move(experiment), out, console);
  if (!o.table_only) {
    const run::Interrupts interrupts;
    console.err << fmt::format("results go to {}\n", out.string());
    comparing.train_missing(interrupts.signal());
  }
  const experiment::Comparison& comparison = comparing.comparison();
  keep_results(comparison, out);
  keep_report(document_of(comparison, o.subtract_baseline), out);
  if (!o.json) mention_report(out, console);
  console.out << (o.json ? to_json(comparison)
                         : to_text(comparison, o.markdown ? experiment::TableStyle::markdown : experiment::TableStyle::text));
  return comparison.is_whole() ? run::exit_ok : run::exit_failed;
}

bool is_experiment(const std::string& file) { return Config::load_toml(file).find("compare") != nullptr; }

// Several experiments come one after another, each with a folder and a table of its own.
int run(const Options& o, const run::Console& console) {
  if (o.files.size() < 2 || !std::ranges::all_of(o.files, is_experiment)) return run_one(o, console);
  int worst = run::exit_ok;
  for (const std::string& file : o.files) {
    Options one = o;
    one.files = {file};
    if (!o.out.empty()) one.out = (std::filesystem::path(o.out) / std::filesystem::path(file).stem()).string();
    worst = std::max(worst, run_one(one, console));
  }
  return worst;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("file", options->files, "job files with a table [compare], each an experiment; or several without one, each a variant")
      .shown_as("job.toml");
  arguments
      .option("--out", options->out,
              "folder of the results; if it has some already, only what is missing is trained. Default: compare/<name>-<time>")
      .shown_as("FOLDER");
  arguments.option("-n,--nodes", options->flags.nodes, "nodes of each training; default: as the file says")
      .shown_as("COUNT")
      .between(1, 1 << 12);
  arguments.option("--seeds", options->flags.seeds, "train with the seeds 1 to this; default: as the file says")
      .shown_as("COUNT")
      .between(1, 1000);
  arguments.option("--set", options->flags.settings, "change a setting of every variant, e.g. train.epochs=3")
      .shown_as("TABLE.KEY=VALUE")
      .one_at_a_time();
  arguments.option("--train-arg", options->train_arguments, "one more argument for each `trireme train`, e.g. --threads=1").one_at_a_time();
  arguments.option("--time-limit", options->time_limit, "seconds after which a training is ended and counts as failed; default: none")
      .shown_as("SECONDS")
      .not_negative();
  arguments.flag("--subtract-baseline", options->subtract_baseline,
                 "in the report: take off what the machines used before each training began");
  arguments.flag("--table-only", options->table_only, "train nothing, only read what is there");
  arguments.flag("--markdown", options->markdown, "print the table as Markdown");
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry compare() {
  return {.name = "compare",
          .summary = "train variants of a job with several seeds and show them in one table",
          .declare = declare,
          .goes_on_unread = true};
}

}  // namespace trireme::cli::commands
