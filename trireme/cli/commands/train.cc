// SPDX-License-Identifier: Apache-2.0
// train: trains the model of a job file on this machine or on many, or continues a run.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/failpoint_orders.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/cli/train_folds.h"
#include "trireme/inspect/first_job.h"
#include "trireme/inspect/inspect.h"
#include "trireme/run/launch/training_start.h"
#include "trireme/run/setup/algorithm_memory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/run/training/training_run.h"
#include "trireme/train/job/job.h"
#include "trireme/web/page.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  run::JobRequest job;
  run::NodesRequest nodes;
  SelectionFlags machines;
  FoldFlags folds;
  std::string runs = "runs";
  std::string until;
  bool dashboard = false;
  int dashboard_port = 0;
  bool dry_run = false;
  bool print_config = false;
  std::string label;
};

// A job for data that were named instead of a job file.
run::JobRequest job_request(const Options& o, const run::Console& console) {
  run::JobRequest job = o.job;
  if (!inspect::names_data(job.file)) {
    if (!o.label.empty())
      throw Error{invalid_argument, "--label says what to predict of a table; a job file has data.label (or data.target)"};
    return job;
  }
  const auto threads = static_cast<int>(std::max<std::int64_t>(job.threads, 0));
  const inspect::FirstJob first = inspect::first_job(
      {.path = job.file, .wishes = {.label = o.label}, .engine = {.threads = threads, .algorithm_cache = run::algorithm_cache()}});
  (o.print_config || o.dry_run ? console.err : console.out) << first.report;
  job.text = first.text;
  return job;
}

run::NodesRequest nodes_request(const Options& o, const run::Console& console) {
  run::NodesRequest nodes = o.nodes;
  if (o.machines.names_machines()) nodes.machines = [flags = o.machines, &console] { return selected_inventory(flags, console); };
  nodes.machines_file = o.machines.cluster.empty() ? o.machines.hostfile : o.machines.cluster;
  nodes.only_shows = o.print_config || o.dry_run;
  return nodes;
}

run::TrainingRequest training_request(const Options& o, const run::Console& console) {
  run::TrainingRequest request = run::training_request(job_request(o, console), console);
  request.base = o.runs;
  request.terminal = run::rewrites_lines(STDOUT_FILENO);
  request.dashboard = o.dashboard || o.dashboard_port > 0;
  request.dashboard_port = o.dashboard_port;
  request.until = o.until;
  return request;
}

int run_folds(const Options& o, const run::Console& console) {
  if (inspect::names_data(o.job.file))
    throw Error{invalid_argument, "--folds needs a job file: write one with `trireme init {}`, then train it with --folds", o.job.file};
  const bool is_special = !o.until.empty() || o.dashboard || o.dashboard_port > 0 || o.dry_run || o.print_config;
  const run::NodesRequest nodes = nodes_request(o, console);
  return train_folds(o.folds, {.job = o.job, .nodes = nodes, .machines = o.machines, .runs = o.runs, .is_special = is_special}, console);
}

int run(const Options& o, const run::Console& console) {
  if (o.folds.folds > 0) return run_folds(o, console);
  if (o.folds.json || !o.folds.folder.empty()) throw Error{invalid_argument, "--folds-dir and --json belong to --folds COUNT"};
  const run::TrainingStart start(nodes_request(o, console), console);
  if (o.dashboard) web::require_page("--dashboard");
  const std::int64_t rank = start.rank();
  obey_failpoint_orders(rank > 0 ? std::to_string(rank) : "coordinator");
  if (rank > 0) return start.run_node(inspect::names_data(o.job.file) ? run::JobRequest{.threads = o.job.threads} : o.job);
  run::TrainingRequest request = training_request(o, console);
  const run::Interrupts interrupts;
  run::fit_to_data(request);
  if (o.print_config) {
    train::job_from_config(request.config);  // a job with mistakes has no configuration
    console.out << train::job_file_of(train::settings_of(request.config));
    return run::exit_ok;
  }
  if (!o.dry_run) return start.run(request, interrupts.signal());
  start.show(request);
  return run::exit_ok;
}

void declare_job(Arguments& arguments, Options& o) {
  arguments
      .option("job", o.job.file,
              "a job file; or data, e.g. a folder of pictures by class or a table: a job is written for them (`trireme init`)")
      .shown_as("job.toml|PATH");
  arguments.option("--resume", o.job.resume, "continue this run where its last checkpoint stands").shown_as("RUN");
  arguments.option("--set", o.job.settings, "change a setting, e.g. train.epochs=3").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.option("--runs", o.runs, "where run directories are made").shown_as("FOLDER").shows_default();
  arguments.option("--label", o.label, "of a table that is named instead of a job file: the column to predict").shown_as("COLUMN");
  arguments.option("--threads", o.job.threads, "cores to use of each machine; 0 means all of them").between(0, 1 << 12);
}

void declare_nodes(Arguments& arguments, Options& o) {
  arguments.option("-n,--nodes,--np", o.nodes.count, "nodes that train together; without machines: on this one")
      .shown_as("COUNT")
      .between(1, 1 << 12);
  arguments.option("--launcher", o.nodes.launcher, "how nodes are started; `trireme list launchers`. Default: as flags and environment say")
      .shown_as("LAUNCHER");
  add_selection_flags(arguments, o.machines, ClusterArgument::flag);
}

void declare_steps(Arguments& arguments, run::JobRequest& job) {
  arguments.option("--strategy", job.strategy, "how the nodes train together, e.g. ps or ps:ssp:4; `trireme list strategies`")
      .shown_as("STRATEGY");
  arguments.option("--profile", job.profile, "time every op in some steps, e.g. \"steps 100-119\" or \"epochs 2-3\"; see `trireme trace`")
      .shown_as("STEPS");
}

void declare_start(Arguments& arguments, run::NodesRequest& nodes) {
  arguments.option("--ssh-arg", nodes.ssh_args, "one more argument for ssh, e.g. -F or a file name").one_at_a_time();
  arguments.flag("--accept-new-hosts", nodes.accept_new_hosts, "trust host keys never seen before; a changed one is always refused");
  arguments.option("--start-timeout", nodes.start_timeout, "seconds until every node must be ready").between(1.0, 86400.0).shows_default();
}

void declare_losses(Arguments& arguments, run::NodesRequest& nodes) {
  arguments
      .option("--min-nodes,--min-np", nodes.min_nodes,
              "go on with as few as these when nodes are lost (default 1), and begin with them if no more come in time")
      .shown_as("COUNT")
      .between(1, 1 << 12);
  arguments.option("--max-nodes,--max-np", nodes.max_nodes, "at a time; the machines' other slots are spare")
      .shown_as("COUNT")
      .between(1, 1 << 12);
  arguments.option("--restarts", nodes.restarts, "of a node that fails again and again without progress; then it is left out")
      .between(0, 1 << 12)
      .shows_default();
  arguments
      .option("--keep-nodes", nodes.keep_nodes,
              "if this process dies, nodes wait so many seconds for `train --resume RUN` to take over; 0: they end at once")
      .shown_as("SECONDS")
      .between(0.0, 86400.0)
      .shows_default();
}

void declare_secrets(Arguments& arguments, run::NodesRequest& nodes) {
  arguments
      .option("--certificate-seconds", nodes.certificate_seconds,
              "validity of the job's certificates, which are renewed at half of it; 30 days")
      .shown_as("SECONDS")
      .between(4.0, 365.0 * 86400)
      .hidden();
  arguments.option("--events", nodes.events, "for tests: every process keeps a journal of all it does in here").shown_as("FOLDER").hidden();
  arguments
      .option("--secret-file", nodes.secret_file,
              "started by something that sets RANK and WORLD_SIZE: a file of random bytes that all of them can read")
      .shown_as("FILE");
}

void declare_display(Arguments& arguments, Options& o) {
  arguments.option("--until", o.until, "stop there with a checkpoint: a fraction of the training below 1, or epochs").shown_as("POINT");
  arguments.flag("--dashboard", o.dashboard, "show the training in the browser while it goes on; prints the address");
  arguments.option("--dashboard-port", o.dashboard_port, "the same at this port, e.g. for Prometheus, which reads /metrics there")
      .shown_as("PORT")
      .between(1, 65535);
  arguments.flag("--dry-run", o.dry_run, "print the commands that would be run, and do nothing else");
  arguments.flag("--print-config", o.print_config, "show every value and where it comes from, and do nothing else");
}

// In the order of the help.
Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  declare_job(arguments, *options);
  declare_nodes(arguments, *options);
  declare_steps(arguments, options->job);
  declare_start(arguments, options->nodes);
  declare_losses(arguments, options->nodes);
  declare_secrets(arguments, options->nodes);
  declare_display(arguments, *options);
  add_fold_flags(arguments, options->folds);
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry train() {
  return {.name = "train", .summary = "train a model, on this machine or on many", .declare = declare, .goes_on_unread = true};
}

}  // namespace trireme::cli::commands
