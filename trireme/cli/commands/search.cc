// SPDX-License-Identifier: Apache-2.0
// search: the earliest point at which a training can switch to another strategy and still reach the accuracy of the first.
#include <fmt/chrono.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/cli/command_entry.h"
#include "trireme/experiment/experiment.h"
#include "trireme/experiment/search_report.h"
#include "trireme/experiment/search_trainings.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/train/job/job.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string job;
  std::string from = "allreduce";
  std::string to = "ps:async";
  std::int64_t nodes = 0;  // not given
  std::int64_t seeds = 3;
  int settings = 3;
  double confidence = 0.95;
  double tolerance = -1;  // from the spread of the baselines
  std::string out;
  std::vector<std::string> changes;
  std::vector<std::string> train_arguments;
  bool json = false;
};

constexpr const char* kSearchFile = "search.toml";

std::filesystem::path out_folder(const Options& o) {
  if (!o.out.empty()) return std::filesystem::absolute(o.out);
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return std::filesystem::absolute(std::filesystem::path("search") /
                                   fmt::format("{}-{:%Y%m%d-%H%M%S}", std::filesystem::path(o.job).stem().string(), fmt::gmtime(now)));
}

std::string kept_text(const Options& o, const std::string& stem, const Config& job) {
  return fmt::format("{}[search]\nfrom = {}\nto = {}\nnodes = {}\nsettings = {}\nseeds = {}\nconfidence = {}\ntolerance = {}\nstem = {}\n",
                     experiment::job_file_text(job), toml_quoted(o.from), toml_quoted(o.to), o.nodes, o.settings, o.seeds,
                     toml_number(o.confidence), toml_number(o.tolerance), toml_quoted(stem));
}

struct Task {
  Options options;
  std::string stem;
  Config job;
};

// With --out alone: what that folder was begun with.
Task kept_task(const Options& o) {
  const std::filesystem::path file = std::filesystem::path(o.out) / kSearchFile;
  if (o.out.empty() || !std::filesystem::exists(file))
    throw Error{invalid_argument, "give a job file, or --out FOLDER with the folder of a search that was begun"};
  const Config kept = Config::load_toml(file);
  const Config& search = kept.at("search");
  Task task{.options = o, .stem = search.at("stem").text(), .job = {}};
  task.options.from = search.at("from").text();
  task.options.to = search.at("to").text();
  task.options.nodes = search.at("nodes").integer();
  task.options.settings = static_cast<int>(search.at("settings").integer());
  task.options.seeds = search.at("seeds").integer();
  task.options.confidence = search.at("confidence").real();
  task.options.tolerance = search.at("tolerance").real();
  Config::Table rows = kept.table();
  std::erase_if(rows, [](const auto& row) { return row.first == "search"; });
  task.job = Config(std::move(rows), kept.origin());
  return task;
}

// More seeds and another rule may be asked for later; what was trained must stay the same.
bool is_same_training(const Task& a, const Task& b) {
  return a.options.from == b.options.from && a.options.to == b.options.to && a.options.nodes == b.options.nodes &&
         a.options.settings == b.options.settings && experiment::job_file_text(a.job) == experiment::job_file_text(b.job);
}

Task task_of(const Options& o) {
  if (o.job.empty()) return kept_task(o);
  Task task{.options = o, .stem = std::filesystem::path(o.job).stem().string(), .job = run::load_job(o.job, o.changes)};
  if (o.nodes < 1) throw Error{invalid_argument, "on how many nodes? Give -n"};
  if (!o.out.empty() && std::filesystem::exists(std::filesystem::path(o.out) / kSearchFile) && !is_same_training(task, kept_task(o)))
    throw Error{failed_precondition, "{} has a search with another job, strategies, nodes or settings; give another --out", o.out};
  return task;
}

void check(const Task& task) {
  if (task.options.seeds < 2 && task.options.tolerance < 0)
    throw Error{invalid_argument, "one seed has no spread to take the tolerance from: give --tolerance, or --seeds 2 or more"};
  for (const std::string& strategy : {task.options.from, task.options.to}) {
    Config job = experiment::with_strategy(task.job, strategy);
    if (const fetch::SetEntry* set = run::public_set(job)) run::name_files(job, *set, run::data_directory());
    train::check_job(job);
  }
}

// On a terminal one line that renews itself, elsewhere a line for each training.
class SearchProgress {
 public:
  SearchProgress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
  ~SearchProgress() {
    if (has_open_line_) out_ << "\n" << std::flush;
  }
  SearchProgress(const SearchProgress&) = delete;
  SearchProgress& operator=(const SearchProgress&) = delete;

  void report(const std::string& title, const experiment::JournalTail::Position& position) {
    if (!terminal_ && title == title_) return;
    title_ = title;
    out_ << (terminal_ ? "\r\033[K" : "") << title;
    if (terminal_ && position.epoch > 0)
      out_ << fmt::format(": epoch {} of {}, accuracy {:.2f}", position.epoch, position.epochs, position.accuracy);
    out_ << (terminal_ ? "" : "\n") << std::flush;
    has_open_line_ = terminal_;
  }
  void say(const std::string& line) {
    out_ << (terminal_ ? "\r\033[K" : "") << line << "\n" << std::flush;
    has_open_line_ = false;
  }

 private:
  std::ostream& out_;
  bool terminal_;
  bool has_open_line_ = false;
  std::string title_;
};

class Search {
 public:
  Search(const Task& task, experiment::SearchTrainings& trainings, SearchProgress& progress)
      : options_(task.options), trainings_(trainings), progress_(progress) {
    report_.job = task.stem;
    report_.from = options_.from;
    report_.to = options_.to;
    report_.nodes = options_.nodes;
    report_.grid = 1 << options_.settings;
    report_.is_tolerance_given = options_.tolerance >= 0;
  }

  experiment::SearchReport run() {
    train_baselines();
    std::vector<experiment::TriedPoint> tried;
    while (const auto at = experiment::next_point(tried, report_.grid)) {
      report_.points.push_back(try_point(*at));
      tried.push_back(report_.points.back().judged);
    }
    report_.seconds = trainings_.seconds_spent();
    return report_;
  }

 private:
  void train_baselines() {
    std::int64_t samples = 0;
    for (std::int64_t seed = 1; seed <= options_.seeds; ++seed) {
      const experiment::SearchTrainings::Result result = trainings_.baseline(seed);
      if (!std::isfinite(result.accuracy)) throw Error{invalid_argument, "this job has no accuracy to compare"};
      samples = result.samples;
      report_.baselines.values.push_back(result.accuracy);
      report_.baseline_seconds.values.push_back(result.training_seconds);
      progress_.say(fmt::format("seed {}, {} alone: accuracy {:.4f}", seed, options_.from, result.accuracy));
    }
    report_.rule = {.tolerance = report_.is_tolerance_given ? options_.tolerance : experiment::tolerance_from(report_.baselines, samples),
                    .confidence = options_.confidence};
  }

  experiment::SearchReport::Point try_point(int at) {
    experiment::SearchReport::Point point;
    experiment::Sample differences;
    for (std::int64_t seed = 1; seed <= options_.seeds; ++seed) {
      const experiment::SearchTrainings::Result result = trainings_.switched(seed, at);
      const double baseline = report_.baselines.values[static_cast<std::size_t>(seed - 1)];
      point.accuracies.values.push_back(result.accuracy);
      if (std::isfinite(result.training_seconds)) point.training_seconds.values.push_back(result.training_seconds);
      point.diverged += result.diverged ? 1 : 0;
      differences.values.push_back(baseline - result.accuracy);
      progress_.say(fmt::format("seed {}, switch at {:g} %: accuracy {:.4f}, baseline {:.4f}", seed, 100.0 * at / report_.grid,
                                result.accuracy, baseline));
    }
    point.judged = judge(at, std::move(differences), report_.rule);
    return point;
  }

  const Options& options_;
  experiment::SearchTrainings& trainings_;
  SearchProgress& progress_;
  experiment::SearchReport report_;
};

int run(const Options& o, const run::Console& console) {
  const Task task = task_of(o);
  check(task);
  const std::filesystem::path out = out_folder(o);
  write_file_atomically(out / kSearchFile, kept_text(task.options, task.stem, task.job));
  console.err << fmt::format("results go to {}\n", out.string());
  const run::Interrupts interrupts;
  SearchProgress progress(console.err, run::rewrites_lines(STDERR_FILENO));
  experiment::SearchTrainings trainings(
      {.job = task.job,
       .stem = task.stem,
       .from = task.options.from,
       .to = task.options.to,
       .nodes = task.options.nodes,
       .grid = 1 << task.options.settings,
       .out = out,
       .train_arguments = o.train_arguments},
      interrupts.signal(),
      [&](const std::string& title, const experiment::JournalTail::Position& position) { progress.report(title, position); });
  const experiment::SearchReport report = Search(task, trainings, progress).run();
  write_file_atomically(out / "search.json", to_json(report));
  write_file_atomically(out / "search.txt", to_text(report));
  console.out << (o.json ? to_json(report) : to_text(report));
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("job", options->job, "what to train").shown_as("job.toml");
  arguments.option("--from", options->from, "strategy to begin with; its accuracy is to be reached").shown_as("STRATEGY").shows_default();
  arguments.option("--to", options->to, "strategy to switch to").shown_as("STRATEGY").shows_default();
  arguments.option("-n,--nodes", options->nodes, "nodes of each training").shown_as("COUNT").between(1, 1 << 12);
  arguments.option("--seeds", options->seeds, "trainings for each point, with the seeds 1 to this")
      .shown_as("COUNT")
      .between(1, 1000)
      .shows_default();
  arguments.option("--settings", options->settings, "points to try: the answer is a multiple of 1 / 2^settings of the training")
      .shown_as("COUNT")
      .between(1, 8)
      .shows_default();
  arguments.option("--confidence", options->confidence, "of each bound").between(0.5, 0.9999).shows_default();
  arguments
      .option("--tolerance", options->tolerance,
              "accuracy that may be lost, e.g. 0.01; default: twice the spread of the first strategy's runs")
      .between(0.0, 1.0);
  arguments.option("--out", options->out, "folder of the results; a search that was cut short goes on there. Default: search/<name>-<time>")
      .shown_as("FOLDER");
  arguments.option("--set", options->changes, "change a setting, e.g. train.epochs=3").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.option("--train-arg", options->train_arguments, "one more argument for each `trireme train`, e.g. --threads=1").one_at_a_time();
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry search() {
  return {.name = "search",
          .summary = "find the earliest point at which a switch of strategy costs no accuracy",
          .declare = declare,
          .goes_on_unread = true};
}

}  // namespace trireme::cli::commands
