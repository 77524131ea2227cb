// SPDX-License-Identifier: Apache-2.0
// export: a cluster, or a job, in another program's words.
#include <fmt/format.h>

#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/cli/worker_files.h"
#include "trireme/cluster/inventory/tf_config.h"
#include "trireme/cluster/launch/slurm.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/train/job/job.h"

namespace trireme::cli::commands {
namespace {

struct TfConfigOptions {
  SelectionFlags machines;
  std::int64_t port = 2223;
  std::string out;
};

int export_tf_config(const TfConfigOptions& o, const run::Console& console) {
  const cluster::Inventory inventory = selected_inventory(o.machines, console);
  const std::vector<std::string> configs = cluster::tf_configs(inventory.machines, o.port);
  if (!o.out.empty()) {
    write_worker_files(o.out, configs, console);
    return 0;
  }
  for (const std::string& config : configs) console.out << config << "\n";
  return 0;
}

Run declare_tf_config(Arguments& arguments) {
  const auto options = std::make_shared<TfConfigOptions>();
  add_selection_flags(arguments, options->machines, ClusterArgument::positional);
  arguments.option("--port", options->port, "of the workers").shows_default().shown_as("N").between(1, 65535);
  arguments
      .option(
          "--out", options->out,
          "write worker-0.json, worker-1.json ... into this folder instead of printing them; those it wrote for more workers before are "
          "removed")
      .shown_as("FOLDER");
  return [options](const run::Console& console) { return export_tf_config(*options, console); };
}

struct BatchOptions {
  std::string job;
  cluster::SbatchOptions script;
  std::string out;
};

// A job with a mistake would wait in the queue only to fail.
int export_sbatch(const BatchOptions& o, const run::Console& console) {
  train::check_job(run::load_job(o.job, o.script.settings));
  cluster::SbatchOptions script = o.script;
  script.binary = run::own_program();
  script.job = std::filesystem::absolute(o.job);
  const std::string text = cluster::sbatch_script(script);
  if (o.out.empty())
    console.out << text;
  else
    write_file_atomically(o.out, text);
  return 0;
}

Run declare_sbatch(Arguments& arguments) {
  const auto options = std::make_shared<BatchOptions>();
  arguments.option("job", options->job, "what to train").required().shown_as("job.toml");
  arguments.option("--nodes", options->script.nodes, "machines, with a node on each").required().between(1, 1 << 12);
  arguments.option("--cpus-per-task", options->script.cpus_per_task, "of each node; default: the partition's").between(1, 1 << 12);
  arguments.option("--time", options->script.time, "limit, as sbatch takes it, e.g. 12:00:00 or 2-00; default: the partition's");
  arguments.option("--partition", options->script.partition, "default: the cluster's default");
  arguments.option("--set", options->script.settings, "change a setting, e.g. train.epochs=3").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.option("--out", options->out, "write the script to this file instead of printing it").shown_as("FILE");
  return [options](const run::Console& console) { return export_sbatch(*options, console); };
}

Run declare(Arguments& arguments) {
  Arguments tf_config = arguments.subcommand("tf_config", "a cluster as TensorFlow's TF_CONFIG, one for each worker");
  Arguments sbatch = arguments.subcommand("sbatch", "a job as a batch script for Slurm");
  const Run run_tf_config = declare_tf_config(tf_config);
  const Run run_sbatch = declare_sbatch(sbatch);
  return [=](const run::Console& console) { return tf_config.is_given() ? run_tf_config(console) : run_sbatch(console); };
}

}  // namespace

// The file's name is a keyword.
CommandEntry export_() {  // NOLINT(readability-identifier-naming)
  return {
      .name = "export", .summary = "write a cluster as TensorFlow's TF_CONFIG, or a job as a batch script for Slurm", .declare = declare};
}

}  // namespace trireme::cli::commands
