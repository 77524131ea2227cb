// SPDX-License-Identifier: Apache-2.0
// node: what launchers start on each machine; people start `train`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/mpi_launch.h"
#include "trireme/cli/node_process.h"
#include "trireme/cli/node_secrets.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  NodeOptions node;
  std::string mpi_secret;
};

// The launcher holds our standard input open for as long as it lives, whatever may kill it.
void leave_with_launcher(std::chrono::seconds grace) {
  std::thread([grace] {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    std::this_thread::sleep_for(grace);
    ::_exit(143);
  }).detach();
}

int run(const Options& options, const Console& console) {
  constexpr std::chrono::seconds kToFinish{3};  // MPI, whose processes leave together
  std::string line;
  std::getline(std::cin, line);
  const NodeSecrets secrets = node_secrets(line);
  leave_with_launcher(options.mpi_secret.empty() ? std::chrono::seconds(0) : kToFinish);
  if (!options.mpi_secret.empty()) return run_first_mpi_node(secrets, options.mpi_secret, options.node, console);
  return run_node(secrets, options.node, console);
}

Run declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--threads", options->node.threads, "cores to use; 0: the machine's, divided by its nodes")->check(CLI::Range(0, 1 << 12));
  app.add_option("--start-timeout", options->node.start_timeout, "seconds to wait for the coordinator and the other nodes")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  app.add_option("--mpi-secret", options->mpi_secret, "the first process of mpirun: a file whose content the others get by MPI")
      ->type_name("FILE");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry node() {
  return {.name = "node", .summary = "take part in a training (started by launchers)", .declare = declare, .is_hidden = true};
}

}  // namespace trireme::cli::commands
