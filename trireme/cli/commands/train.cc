// SPDX-License-Identifier: Apache-2.0
// train: trains the model of a job file on this machine, or continues a run.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/data_lookup.h"
#include "trireme/cli/interrupts.h"
#include "trireme/cli/job_file.h"
#include "trireme/cli/training_run.h"
#include "trireme/train/job.h"
#include "trireme/train/run_directory.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string job;
  std::string resume;
  std::string runs = "runs";
  std::vector<std::string> settings;
  std::int64_t threads = -1;  // as the job says
  bool print_config = false;
};

Config load(const Options& o, const Console& console) {
  if (o.job.empty() == o.resume.empty())
    throw Error{invalid_argument, "give either a job file or --resume RUN, which continues a run with its own job (and --set on top)"};
  Config config = load_job(o.resume.empty() ? o.job : train::RunDirectory::open(o.resume).config().string(), o.settings);
  if (o.threads >= 0) config.set("train.threads", fmt::format("{}", o.threads), "--threads");
  resolve_data(config, console);
  return config;
}

int run(const Options& o, const Console& console) {
  TrainingRequest request{.config = load(o, console),
                          .base = o.runs,
                          .title = std::filesystem::path(o.job).stem().string(),
                          .resume = o.resume,
                          .changed = !o.settings.empty() || o.threads >= 0,
                          .terminal = isatty(STDOUT_FILENO) != 0};
  if (o.print_config) {
    train::job_from_config(request.config);  // a job with mistakes has no configuration
    console.out << train::job_file_of(train::settings_of(request.config));
    return 0;
  }
  const Interrupts interrupts;
  return run_training(request, console, interrupts.signal());
}

Run declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("job", options->job, "what to train")->type_name("job.toml");
  app.add_option("--resume", options->resume, "continue this run where its last checkpoint stands")->type_name("RUN");
  app.add_option("--set", options->settings, "change a setting, e.g. train.epochs=3")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--runs", options->runs, "where run directories are made")->type_name("FOLDER")->capture_default_str();
  app.add_option("--threads", options->threads, "cores to use; 0 means all of them")->check(CLI::Range(0, 1 << 12));
  app.add_flag("--print-config", options->print_config, "show every value and where it comes from, and do nothing else");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry train() { return {.name = "train", .summary = "train a model on this machine", .declare = declare}; }

}  // namespace trireme::cli::commands
