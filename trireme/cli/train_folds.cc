// SPDX-License-Identifier: Apache-2.0
// Flags of `trireme train` as arguments of each fold's own `trireme train`.
#include "trireme/cli/train_folds.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/launcher_entry.h"
#include "trireme/experiment/folds.h"
#include "trireme/run/launch/launcher_choice.h"
#include "trireme/run/launch/startup_entry.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/terminal/interrupts.h"

namespace trireme::cli {
namespace {

using Words = std::vector<std::string>;

void add(Words& words, const char* flag, const std::string& value) {
  if (!value.empty()) words.insert(words.end(), {flag, value});
}

void add(Words& words, const char* flag, bool is_given) {
  if (is_given) words.emplace_back(flag);
}

Words machine_words(const SelectionFlags& machines) {
  Words words;
  add(words, "--cluster", machines.cluster);
  add(words, "--hostfile", machines.hostfile);
  add(words, "--hosts", machines.hosts);
  add(words, "--all", machines.all);
  add(words, "--cpus", machines.cpus);
  add(words, "--gpus", machines.gpus);
  add(words, "--energy", machines.energy);
  return words;
}

Words node_words(const run::NodesRequest& nodes) {
  Words words;
  if (nodes.count > 0) add(words, "-n", std::to_string(nodes.count));
  add(words, "--launcher", nodes.launcher);
  for (const std::string& argument : nodes.ssh_args) words.push_back("--ssh-arg=" + argument);
  add(words, "--accept-new-hosts", nodes.accept_new_hosts);
  add(words, "--start-timeout", fmt::format("{}", nodes.start_timeout));
  if (nodes.min_nodes > 0) add(words, "--min-nodes", std::to_string(nodes.min_nodes));
  if (nodes.max_nodes > 0) add(words, "--max-nodes", std::to_string(nodes.max_nodes));
  add(words, "--restarts", std::to_string(nodes.restarts));
  words.insert(words.end(), {"--keep-nodes", "0"});  // a fold that is interrupted goes on with new nodes
  return words;
}

Words job_words(const run::JobRequest& job) {
  Words words;
  if (job.threads >= 0) add(words, "--threads", std::to_string(job.threads));
  add(words, "--strategy", job.strategy);
  add(words, "--profile", job.profile);
  return words;
}

// Each of them would train all folds.
void check_is_one_process(const run::NodesRequest& nodes, const run::Console& console) {
  const std::string_view launcher = run::choose_launcher(nodes, console).name;
  if (run::startup_of(launcher).rank != nullptr)
    throw Error{invalid_argument,
                "--folds starts each training itself, and this is one of several processes that something else has started (launcher {}); "
                "run it once, or with --launcher local",
                launcher};
}

void check(const FoldedTraining& training) {
  if (training.job.file.empty() || !training.job.resume.empty())
    throw Error{invalid_argument, "--folds needs a job file; the same command again goes on with folds that are missing"};
  if (training.is_special)
    throw Error{invalid_argument, "--folds trains whole runs: leave --until, --dashboard, --dry-run and --print-config out"};
}

std::filesystem::path folder_of(const FoldFlags& flags, const FoldedTraining& training) {
  if (!flags.folder.empty()) return std::filesystem::absolute(flags.folder);
  const std::string stem = std::filesystem::path(training.job.file).stem().string();
  return std::filesystem::absolute(std::filesystem::path(training.runs) / fmt::format("{}-{}-folds", stem, flags.folds));
}

experiment::FoldsRequest request_of(const FoldFlags& flags, const FoldedTraining& training) {
  experiment::FoldsRequest request{.job_file = training.job.file,
                                   .job_hash = run::hash_of_file(training.job),
                                   .folds = flags.folds,
                                   .folder = folder_of(flags, training),
                                   .settings = training.job.settings,
                                   .train_arguments = job_words(training.job)};
  for (const Words& words : {machine_words(training.machines), node_words(training.nodes)})
    request.train_arguments.insert(request.train_arguments.end(), words.begin(), words.end());
  Words again{"trireme", "train", training.job.file, "--folds", std::to_string(flags.folds), "--folds-dir", request.folder.string()};
  for (const std::string& setting : request.settings) again.insert(again.end(), {"--set", setting});
  again.insert(again.end(), request.train_arguments.begin(), request.train_arguments.end());
  request.how_to_go_on = cluster::as_typed(again);
  return request;
}

}  // namespace

void add_fold_flags(Arguments& arguments, FoldFlags& flags) {
  arguments
      .option("--folds", flags.folds,
              "cross-validation: a training for each of so many parts of the training samples, with that part as its test; prints mean and "
              "spread")
      .shown_as("COUNT")
      .between(2, 1000);
  arguments
      .option("--folds-dir", flags.folder,
              "folder of the folds' runs; folds that are complete there are not trained again. Default: RUNS/<job>-<COUNT>-folds")
      .shown_as("FOLDER");
  arguments.flag("--json", flags.json, "with --folds: print JSON");
}

int train_folds(const FoldFlags& flags, const FoldedTraining& training, const run::Console& console) {
  check(training);
  check_is_one_process(training.nodes, console);
  const experiment::FoldsRequest request = request_of(flags, training);
  experiment::FoldTrainings trainings(request);
  const run::Interrupts interrupts;
  console.err << fmt::format("{} folds; their runs are in {}\n", request.folds, request.folder.string());
  experiment::FoldsOutcome outcome;
  {
    experiment::ExperimentProgress progress(console.err, run::rewrites_lines(STDERR_FILENO), static_cast<int>(request.folds));
    outcome = trainings.train(progress, interrupts.signal());
  }
  console.out << (flags.json ? experiment::to_json(outcome, request) : experiment::to_text(outcome));
  return outcome.is_whole() ? run::exit_ok : run::exit_failed;
}

}  // namespace trireme::cli
