// SPDX-License-Identifier: Apache-2.0
// train: trains the model of a job file on this machine or on many, or continues a run.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/failpoint_orders.h"
#include "trireme/cli/launcher_choice.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/run/launch/cluster_run.h"
#include "trireme/run/launch/env_launch.h"
#include "trireme/run/launch/mpi_launch.h"
#include "trireme/run/launch/slurm_launch.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/run/setup/strategy_choice.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/run/training/training_run.h"
#include "trireme/train/checkpoint/run_directory.h"
#include "trireme/train/job/job.h"
#include "trireme/web/page.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string job;
  std::string resume;
  std::string runs = "runs";
  std::vector<std::string> settings;
  std::int64_t threads = -1;  // as the job says
  std::string strategy;
  std::string profile;
  std::int64_t nodes = 0;  // not given
  std::string launcher;    // not given
  SelectionFlags machines;
  std::vector<std::string> ssh_args;
  bool accept_new_hosts = false;
  double start_timeout = 120;
  int min_nodes = 0;  // not given
  int max_nodes = 0;
  int restarts = 3;
  double keep_nodes = 60;
  double certificate_seconds = run::kCertificateSeconds;
  std::string events;
  std::string secret_file;
  std::string until;
  bool dashboard = false;
  int dashboard_port = 0;
  bool dry_run = false;
  bool print_config = false;
};

Config load(const Options& o, const run::Console& console) {
  if (o.job.empty() == o.resume.empty())
    throw Error{invalid_argument, "give either a job file or --resume RUN, which continues a run with its own job (and --set on top)"};
  Config config = run::load_job(o.resume.empty() ? o.job : train::RunDirectory::open(o.resume).config().string(), o.settings);
  if (o.threads >= 0) config.set("train.threads", fmt::format("{}", o.threads), "--threads");
  if (!o.strategy.empty()) run::choose_strategy(config, o.strategy);
  if (!o.profile.empty()) config.set("observe.profile", toml_quoted(o.profile), "--profile");
  run::resolve_data(config, console);
  return config;
}

run::TrainingRequest training_request(const Options& o, const run::Console& console) {
  return {.config = load(o, console),
          .base = o.runs,
          .title = std::filesystem::path(o.job).stem().string(),
          .resume = o.resume,
          .changed = !o.settings.empty() || o.threads >= 0 || !o.strategy.empty() || !o.profile.empty(),
          .terminal = isatty(STDOUT_FILENO) != 0,
          .dashboard = o.dashboard || o.dashboard_port > 0,
          .dashboard_port = o.dashboard_port,
          .until = o.until};
}

void set_limits(const Options& o, run::ClusterRequest& cluster) {
  cluster.min_nodes = std::max(1, o.min_nodes);
  cluster.starts_with_min = o.min_nodes > 0;
  cluster.max_nodes = o.max_nodes;
  cluster.restarts = o.restarts;
  cluster.keep_nodes = o.keep_nodes;
  cluster.certificate_seconds = o.certificate_seconds;
  cluster.options.clock.ahead = o.certificate_seconds;
  cluster.events = o.events.empty() ? std::filesystem::path{} : std::filesystem::absolute(o.events);
  if (o.max_nodes > 0 && o.min_nodes > o.max_nodes)
    throw Error{invalid_argument, "--min-nodes {} is more than --max-nodes {}", o.min_nodes, o.max_nodes};
}

// The machines that the launcher finds in its environment, or those that the user names.
run::ClusterRequest machines_request(run::ClusterRequest cluster, const cluster::LauncherEntry& launcher, const Options& o,
                                     const run::Console& console) {
  const cluster::Inventory inventory =
      launcher.machines != nullptr ? launcher.machines(own_environment()) : selected_inventory(o.machines, console);
  if (launcher.machines == nullptr) cluster.options.ssh = inventory.ssh;
  cluster.options.binary_hash = digest_of_file(Digest::Kind::sha256, cluster.options.binary);
  cluster.plans = cluster::plan_nodes(inventory.machines, cluster.threads);
  if (!launcher.keeps_nodes) cluster.keep_nodes = 0;
  return cluster;
}

run::ClusterRequest cluster_request(const Options& o, const cluster::LauncherEntry& launcher, const run::TrainingRequest& request,
                                    const run::Console& console, const std::optional<run::Takeover>& takeover) {
  run::ClusterRequest cluster{.launcher = std::string(launcher.name),
                              .options = {.binary = std::filesystem::read_symlink("/proc/self/exe"),
                                          .ssh_args = o.ssh_args,
                                          .accept_new_hosts = o.accept_new_hosts},
                              .start_timeout = o.start_timeout};
  set_limits(o, cluster);
  const std::int64_t threads = train::job_from_config(request.config).train.threads;
  if (launcher.machines == nullptr && !launcher.takes_machines) {
    // Without a word about machines it goes on with the nodes that are still there; those of this machine can be started again.
    const std::int64_t before = takeover ? static_cast<std::int64_t>(takeover->nodes.size()) : 1;
    if (o.nodes > 0 || !takeover || takeover->launcher == launcher.name)
      cluster.plans = run::local_plans(o.nodes > 0 ? o.nodes : before, threads);
    return cluster;
  }
  cluster.threads = threads;
  cluster = machines_request(std::move(cluster), launcher, o, console);
  if (o.nodes > static_cast<std::int64_t>(cluster.plans.size()))
    throw Error{invalid_argument, "-n {}: the machines have {} {}; give them more slots, or ask for fewer nodes", o.nodes,
                cluster.plans.size(), cluster.plans.size() == 1 ? "slot" : "slots"};
  if (o.nodes > 0) cluster.plans.resize(static_cast<std::size_t>(o.nodes));
  cluster.machines_file = o.nodes > 0 ? "" : o.machines.cluster.empty() ? o.machines.hostfile : o.machines.cluster;
  cluster.read_machines = [flags = o.machines, &console] { return selected_inventory(flags, console).machines; };
  return cluster;
}

std::vector<cluster::Machine> machines_of(const std::vector<cluster::NodePlan>& plans) {
  std::vector<cluster::Machine> machines;
  for (const cluster::NodePlan& plan : plans)
    if (plan.slot == 0) machines.push_back(plan.machine);
  return machines;
}

// Of the job file that a rank was started with. With --resume only rank 0 knows the job.
std::string own_hash(const Options& o) {
  if (o.job.empty()) return "";
  Config config = run::load_job(o.job, o.settings);
  if (!o.strategy.empty()) run::choose_strategy(config, o.strategy);
  if (const fetch::SetEntry* set = run::public_set(config)) run::name_files(config, *set, run::data_directory());
  return train::job_hash(config);
}

// A run of several nodes may be continued by one; the result is nearly the same, but it takes longer than its owner may expect.
void mention_nodes(const std::string& run, const run::Console& console) {
  std::int64_t workers = 1;
  observe::for_each_record(train::RunDirectory::open(run).journal(), [&](const observe::Record& record) {
    if (record.type == "generation") workers = record.integer("workers");
  });
  if (workers > 1)
    console.err << fmt::format("note: this run had {} workers; give -n {} (or its machines) to go on with as many\n", workers, workers);
}

run::NodeOptions node_options(const Options& o) {
  return {.threads = std::max<std::int64_t>(o.threads, 0), .start_timeout = o.start_timeout, .job_hash = own_hash(o)};
}

// What only shows something is the first process's business.
int run_other_mpi_process(const Options& o, const run::Console& console) {
  if (o.print_config || o.dry_run) return 0;
  return run::run_mpi_node(run::mpi_launch(), node_options(o), console);
}

run::ClusterRequest request_for(const cluster::LauncherEntry& launcher, const Options& o, const run::TrainingRequest& request,
                                const run::Console& console, const std::optional<run::Takeover>& takeover) {
  if (launcher.name == "env") return run::env_cluster_request(*run::env_launch(o.secret_file), request, o.start_timeout);
  if (launcher.name == "mpi") return run::mpi_cluster_request(run::mpi_launch(), request, o.start_timeout);
  return cluster_request(o, launcher, request, console, takeover);
}

int run(const Options& o, const run::Console& console) {
  const cluster::LauncherEntry& launcher =
      choose_launcher(o.launcher, {.names_machines = o.machines.names_machines(), .nodes = o.nodes}, console);
  // These two are started by others, as ranks: only the first one is this command's coordinator.
  const bool is_env = launcher.name == "env", is_mpi = launcher.name == "mpi";
  if (o.dashboard) web::require_page("--dashboard");
  const std::int64_t rank = is_env ? run::env_launch(o.secret_file)->rank : is_mpi ? run::mpi_launch().rank : 0;
  obey_failpoint_orders(rank > 0 ? std::to_string(rank) : "coordinator");
  if (is_env && rank > 0) return run::run_env_node(*run::env_launch(o.secret_file), node_options(o), console);
  if (is_mpi && rank > 0) return run_other_mpi_process(o, console);
  const run::TrainingRequest request = training_request(o, console);
  if (o.print_config) {
    train::job_from_config(request.config);  // a job with mistakes has no configuration
    console.out << train::job_file_of(train::settings_of(request.config));
    return 0;
  }
  const auto takeover =
      o.resume.empty() ? std::nullopt : run::read_takeover(run::takeover_file(train::RunDirectory::open(o.resume).path()));
  const bool many = launcher.name != cluster::kLocalLauncher || o.nodes > 1 || takeover;
  if (o.dry_run && !many) {
    console.out << "one process on this machine: nothing is started elsewhere\n";
    return 0;
  }
  if (!many && !o.resume.empty()) mention_nodes(o.resume, console);
  const run::Interrupts interrupts;
  if (!many) return run::run_training(request, console, interrupts.signal());
  run::ClusterRequest cluster = request_for(launcher, o, request, console, takeover);
  if (takeover) console.out << "the coordinator of this run died: taking over from it, with the nodes that still wait\n";
  cluster.takeover = takeover;
  if (o.dry_run) {
    console.out << run::dry_run(cluster);
    return 0;
  }
  std::optional<run::SlurmPreparation> slurm;
  if (launcher.name == "slurm") {
    slurm.emplace(machines_of(cluster.plans), cluster.options, console);
    cluster.options.hand_over = slurm->hand_over();
  }
  return run::run_cluster_training(request, cluster, console, interrupts.signal());
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("job", options->job, "what to train").shown_as("job.toml");
  arguments.option("--resume", options->resume, "continue this run where its last checkpoint stands").shown_as("RUN");
  arguments.option("--set", options->settings, "change a setting, e.g. train.epochs=3").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.option("--runs", options->runs, "where run directories are made").shown_as("FOLDER").shows_default();
  arguments.option("--threads", options->threads, "cores to use of each machine; 0 means all of them").between(0, 1 << 12);
  arguments.option("-n,--nodes,--np", options->nodes, "nodes that train together; without machines: on this one")
      .shown_as("COUNT")
      .between(1, 1 << 12);
  arguments
      .option("--launcher", options->launcher, "how nodes are started; `trireme list launchers`. Default: as flags and environment say")
      .shown_as("NAME");
  add_selection_flags(arguments, options->machines, ClusterArgument::flag);
  arguments.option("--strategy", options->strategy, "how the nodes train together, e.g. ps or ps:ssp:4; `trireme list strategies`")
      .shown_as("STRATEGY");
  arguments
      .option("--profile", options->profile, "time every op in some steps, e.g. \"steps 100-119\" or \"epochs 2-3\"; see `trireme trace`")
      .shown_as("STEPS");
  arguments.option("--ssh-arg", options->ssh_args, "one more argument for ssh, e.g. -F or a file name").one_at_a_time();
  arguments.flag("--accept-new-hosts", options->accept_new_hosts, "trust host keys never seen before; a changed one is always refused");
  arguments.option("--start-timeout", options->start_timeout, "seconds until every node must be ready")
      .between(1.0, 86400.0)
      .shows_default();
  arguments
      .option("--min-nodes,--min-np", options->min_nodes,
              "go on with as few as these when nodes are lost (default 1), and begin with them if no more come in time")
      .shown_as("COUNT")
      .between(1, 1 << 12);
  arguments.option("--max-nodes,--max-np", options->max_nodes, "at a time; the machines' other slots are spare")
      .shown_as("COUNT")
      .between(1, 1 << 12);
  arguments.option("--restarts", options->restarts, "of a node that fails again and again without progress; then it is left out")
      .between(0, 1 << 12)
      .shows_default();
  arguments
      .option("--keep-nodes", options->keep_nodes,
              "if this process dies, nodes wait so many seconds for `train --resume RUN` to take over; 0: they end at once")
      .shown_as("SECONDS")
      .between(0.0, 86400.0)
      .shows_default();
  arguments
      .option("--certificate-seconds", options->certificate_seconds,
              "validity of the job's certificates, which are renewed at half of it; 30 days")
      .shown_as("SECONDS")
      .between(4.0, 365.0 * 86400)
      .hidden();
  arguments.option("--events", options->events, "for tests: every process keeps a journal of all it does in here")
      .shown_as("FOLDER")
      .hidden();
  arguments
      .option("--secret-file", options->secret_file,
              "started by something that sets RANK and WORLD_SIZE: a file of random bytes that all of them can read")
      .shown_as("FILE");
  arguments.option("--until", options->until, "stop there with a checkpoint: a fraction of the training below 1, or epochs")
      .shown_as("POINT");
  arguments.flag("--dashboard", options->dashboard, "show the training in the browser while it goes on; prints the address");
  arguments.option("--dashboard-port", options->dashboard_port, "the same at this port, e.g. for Prometheus, which reads /metrics there")
      .shown_as("PORT")
      .between(1, 65535);
  arguments.flag("--dry-run", options->dry_run, "print the commands that would be run, and do nothing else");
  arguments.flag("--print-config", options->print_config, "show every value and where it comes from, and do nothing else");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry train() { return {.name = "train", .summary = "train a model, on this machine or on many", .declare = declare}; }

}  // namespace trireme::cli::commands
