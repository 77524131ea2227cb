// SPDX-License-Identifier: Apache-2.0
// export: a cluster, or a job, in another program's words.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/cluster/inventory/tf_config.h"
#include "trireme/cluster/launch/slurm.h"
#include "trireme/run/job_file.h"
#include "trireme/train/job/job.h"

namespace trireme::cli::commands {
namespace {

struct TfConfigOptions {
  SelectionFlags machines;
  std::int64_t port = 2223;
  std::string out;
};

void write_configs(const std::vector<std::string>& configs, const std::filesystem::path& folder, const run::Console& console) {
  make_directories(folder);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::filesystem::path file = folder / fmt::format("worker-{}.json", i);
    write_file_atomically(file, configs[i] + "\n");
    console.out << file.string() << "\n";
  }
}

int export_tf_config(const TfConfigOptions& o, const run::Console& console) {
  const cluster::Inventory inventory = selected_inventory(o.machines, console);
  const std::vector<std::string> configs = cluster::tf_configs(inventory.machines, o.port);
  if (!o.out.empty()) {
    write_configs(configs, o.out, console);
    return 0;
  }
  for (const std::string& config : configs) console.out << config << "\n";
  return 0;
}

Run declare_tf_config(CLI::App& app) {
  const auto options = std::make_shared<TfConfigOptions>();
  add_selection_flags(app, options->machines, ClusterArgument::positional);
  app.add_option("--port", options->port, "of the workers")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 65535).description(""));
  app.add_option("--out", options->out, "write worker-0.json, worker-1.json ... into this folder instead of printing them")
      ->type_name("FOLDER");
  return [options](const run::Console& console) { return export_tf_config(*options, console); };
}

struct BatchOptions {
  std::string job;
  cluster::SbatchOptions script;
  std::string out;
};

// A job with a mistake would wait in the queue only to fail.
int export_sbatch(const BatchOptions& o, const run::Console& console) {
  train::job_from_config(run::load_job(o.job, o.script.settings));
  cluster::SbatchOptions script = o.script;
  script.binary = std::filesystem::read_symlink("/proc/self/exe");
  script.job = std::filesystem::absolute(o.job);
  const std::string text = cluster::sbatch_script(script);
  if (o.out.empty())
    console.out << text;
  else
    write_file_atomically(o.out, text);
  return 0;
}

Run declare_sbatch(CLI::App& app) {
  const auto options = std::make_shared<BatchOptions>();
  app.add_option("job", options->job, "what to train")->required()->type_name("job.toml");
  app.add_option("--nodes", options->script.nodes, "machines, with a node on each")->required()->check(CLI::Range(1, 1 << 12));
  app.add_option("--cpus-per-task", options->script.cpus_per_task, "of each node; default: the partition's")->check(CLI::Range(1, 1 << 12));
  app.add_option("--time", options->script.time, "limit, as sbatch takes it, e.g. 12:00:00 or 2-00; default: the partition's");
  app.add_option("--partition", options->script.partition, "default: the cluster's default");
  app.add_option("--set", options->script.settings, "change a setting, e.g. train.epochs=3")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--out", options->out, "write the script to this file instead of printing it")->type_name("FILE");
  return [options](const run::Console& console) { return export_sbatch(*options, console); };
}

Run declare(CLI::App& app) {
  app.require_subcommand(1);
  const CLI::App* tf_config = app.add_subcommand("tf_config", "a cluster as TensorFlow's TF_CONFIG, one for each worker");
  const Run run_tf_config = declare_tf_config(*app.get_subcommand("tf_config"));
  const Run run_sbatch = declare_sbatch(*app.add_subcommand("sbatch", "a job as a batch script for Slurm"));
  return [=](const run::Console& console) { return tf_config->parsed() ? run_tf_config(console) : run_sbatch(console); };
}

}  // namespace

// The file's name is a keyword.
CommandEntry export_() {  // NOLINT(readability-identifier-naming)
  return {
      .name = "export", .summary = "write a cluster as TensorFlow's TF_CONFIG, or a job as a batch script for Slurm", .declare = declare};
}

}  // namespace trireme::cli::commands
