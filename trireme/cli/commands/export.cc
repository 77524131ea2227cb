// SPDX-License-Identifier: Apache-2.0
// export: a cluster in another program's words.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "trireme/base/files.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/cluster/tf_config.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string format;
  SelectionFlags machines;
  std::int64_t port = 2223;
  std::string out;
};

void write_configs(const std::vector<std::string>& configs, const std::filesystem::path& folder, const Console& console) {
  make_directories(folder);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::filesystem::path file = folder / fmt::format("worker-{}.json", i);
    write_file_atomically(file, configs[i] + "\n");
    console.out << file.string() << "\n";
  }
}

int run(const Options& o, const Console& console) {
  const cluster::Inventory inventory = selected_inventory(o.machines, console);
  const std::vector<std::string> configs = cluster::tf_configs(inventory.machines, o.port);
  if (!o.out.empty()) {
    write_configs(configs, o.out, console);
    return 0;
  }
  for (const std::string& config : configs) console.out << config << "\n";
  return 0;
}

Run declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("format", options->format, "tf_config: TensorFlow's TF_CONFIG, one for each worker")
      ->required()
      ->check(CLI::IsMember({"tf_config"}));
  add_selection_flags(app, options->machines, ClusterArgument::positional);
  app.add_option("--port", options->port, "of the workers")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 65535).description(""));
  app.add_option("--out", options->out, "write worker-0.json, worker-1.json ... into this folder instead of printing them")
      ->type_name("FOLDER");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

// The file's name is a keyword.
CommandEntry export_() {  // NOLINT(readability-identifier-naming)
  return {.name = "export", .summary = "write a cluster as TensorFlow's TF_CONFIG", .declare = declare};
}

}  // namespace trireme::cli::commands
