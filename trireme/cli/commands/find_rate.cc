// SPDX-License-Identifier: Apache-2.0
// find-rate: a learning-rate range test of a job, with a picture and a suggestion.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/cli/command_entry.h"
#include "trireme/experiment/rate_range.h"
#include "trireme/experiment/rate_trial.h"
#include "trireme/inspect/inspect.h"
#include "trireme/run/setup/algorithm_memory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/run/training/training_run.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  run::JobRequest job;
  int steps = 100;
  double from = 1e-6;
  double to = 10;
  bool json = false;
};

// The line that renews itself; elsewhere there is none, since it takes seconds.
class StepLine {
 public:
  StepLine(std::ostream& out, int steps) : out_(out), steps_(steps), rewrites_(run::rewrites_lines(STDERR_FILENO)) {}
  ~StepLine() {
    if (rewrites_) out_ << "\r\033[K" << std::flush;
  }
  StepLine(const StepLine&) = delete;
  StepLine& operator=(const StepLine&) = delete;

  void show(int step, const experiment::RateStep& done) {
    if (rewrites_)
      out_ << fmt::format("\r\033[Kstep {} of {}: learning rate {:.2g}, loss {:.4f}", step, steps_, done.rate, done.loss) << std::flush;
  }

 private:
  std::ostream& out_;
  int steps_;
  bool rewrites_;
};

experiment::RateTrial try_rates(const Options& o, const run::TrainingRequest& request, const train::Job& job, const run::Console& console) {
  const SteadyClock clock;
  const run::Interrupts interrupts;
  const data::DataSets data = run::open_data(request, job.data);
  StepLine line(console.err, o.steps);
  return experiment::try_rates(job, data,
                               {.steps = o.steps,
                                .from = o.from,
                                .to = o.to,
                                .algorithm_cache = run::algorithm_cache(),
                                .on_step = [&](int step, const experiment::RateStep& done) { line.show(step, done); }},
                               clock, interrupts.signal());
}

void print_json(const experiment::RateTrial& trial, const experiment::RateFinding& finding, std::ostream& out) {
  Json steps = Json::array();
  for (std::size_t i = 0; i < trial.steps.size(); ++i)
    steps.push_back({{"rate", trial.steps[i].rate}, {"loss", trial.steps[i].loss}, {"smoothed", finding.smoothed[i]}});
  out << Json{{"suggestion", finding.suggestion},
              {"steepest", finding.steepest},
              {"lowest", finding.lowest},
              {"diverges", finding.diverges ? Json(*finding.diverges) : Json()},
              {"steps", std::move(steps)}}
             .dump(2)
      << "\n";
}

void print(const Options& o, const experiment::RateTrial& trial, const experiment::RateFinding& finding, std::ostream& out) {
  out << plot_rates(trial.steps, finding)
      << fmt::format("{} of {} steps{}: the loss falls fastest at {:.2g}, is lowest at {:.2g}{}\n", trial.steps.size(), o.steps,
                     trial.has_diverged ? ", then it diverged" : "", finding.steepest, finding.lowest,
                     finding.diverges ? fmt::format(", and is above where it began from {:.2g} on", *finding.diverges) : "")
      << fmt::format("suggestion, under [train.optimizer]:\n  learning_rate = {:g}\n", finding.suggestion)
      << fmt::format("or for one training: trireme train {} --set train.optimizer.learning_rate={:g}\n", o.job.file, finding.suggestion);
}

int run(const Options& o, const run::Console& console) {
  if (o.from >= o.to) throw Error{invalid_argument, "--from {:g} must be below --to {:g}", o.from, o.to};
  if (inspect::names_data(o.job.file))
    throw Error{invalid_argument, "find-rate needs a job file: write one with `trireme init {}`, then give it", o.job.file};
  run::TrainingRequest request = run::training_request(o.job, console);
  run::fit_to_data(request);
  const train::Job job = train::job_from_config(request.config);
  const experiment::RateTrial trial = try_rates(o, request, job, console);
  const auto finding = experiment::find_rate(trial.steps, trial.has_diverged);
  if (!finding)
    throw Error{
        failed_precondition,
        "the loss never fell between the learning rates {:g} and {:g}, so that nothing can be suggested; give a lower --from or more "
        "--steps, or look at the data (trireme data {})",
        o.from, trial.steps.empty() ? o.to : trial.steps.back().rate, o.job.file};
  if (o.json)
    print_json(trial, *finding, console.out);
  else
    print(o, trial, *finding, console.out);
  return run::exit_ok;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("job", options->job.file, "what to train").required().shown_as("job.toml");
  arguments.option("--set", options->job.settings, "change a setting, e.g. train.optimizer=adam")
      .shown_as("TABLE.KEY=VALUE")
      .one_at_a_time();
  arguments.option("--threads", options->job.threads, "cores to use; 0 means all of them").between(0, 1 << 12);
  arguments.option("--steps", options->steps, "of the test; it ends sooner if the loss diverges").between(20, 100000).shows_default();
  arguments.option("--from", options->from, "the first learning rate").between(1e-12, 1e6).shown_as("RATE").shows_default();
  arguments.option("--to", options->to, "the last one").between(1e-12, 1e6).shown_as("RATE").shows_default();
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry find_rate() {
  return {.name = "find-rate", .summary = "try learning rates on a job for some steps, and suggest one", .declare = declare};
}

}  // namespace trireme::cli::commands
