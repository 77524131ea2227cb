// SPDX-License-Identifier: Apache-2.0
// train: trains the model of a job file on this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "trireme/base/clock.h"
#include "trireme/base/table.h"
#include "trireme/cli/cache_directory.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/job_file.h"
#include "trireme/cli/progress.h"
#include "trireme/train/job.h"
#include "trireme/train/trainer.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string job;
  std::vector<std::string> settings;
  std::int64_t threads = -1;  // as the job says
};

train::Job load(const Options& o) {
  Config config = load_job(o.job, o.settings);
  if (o.threads >= 0) config.set("train.threads", fmt::format("{}", o.threads), "--threads");
  return train::job_from_config(config);
}

std::filesystem::path algorithm_cache() {
  const std::filesystem::path directory = cache_directory();
  return directory.empty() ? directory : directory / "algorithms.json";
}

std::string beginning(const train::Job& job, const engine::CompileReport& report) {
  return fmt::format("{} parameters, {} samples of {}, batch size {}, {} {}; compiled in {:.1f} s\n",
                     with_thousands(job.graph.parameters().size()), with_thousands(job.data.samples), job.data.name, job.train.batch_size,
                     report.threads, report.threads == 1 ? "thread" : "threads", report.seconds);
}

std::string ending(const train::Job& job, const train::EpochRecord& last, Seconds took) {
  std::string text = fmt::format("trained {} {} in {:.1f} s, {:.0f} samples/s in the last", job.train.epochs,
                                 job.train.epochs == 1 ? "epoch" : "epochs", took.count(), last.samples_per_second);
  if (job.data.test_samples > 0) text += fmt::format("; test accuracy {:.2f} %", 100 * last.test_accuracy);
  return text + "\n";
}

int run(const Options& o, const Console& console) {
  const SteadyClock clock;
  const train::Job job = load(o);
  train::Trainer trainer(job, clock, algorithm_cache());
  console.out << beginning(job, trainer.compile_report()) << std::flush;
  Progress progress(console.out, clock,
                    {.terminal = isatty(STDOUT_FILENO) != 0, .epochs = job.train.epochs, .tested = job.data.test_samples > 0});
  const Seconds start = clock.now();
  const train::EpochRecord last = trainer.run(progress);
  console.out << ending(job, last, clock.now() - start);
  return 0;
}

Run declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("job", options->job, "what to train")->required()->type_name("job.toml");
  app.add_option("--set", options->settings, "change a setting, e.g. train.epochs=3")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--threads", options->threads, "cores to use; 0 means all of them")->check(CLI::Range(0, 1 << 12));
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry train() { return {.name = "train", .summary = "train a model on this machine", .declare = declare}; }

}  // namespace trireme::cli::commands
