// SPDX-License-Identifier: Apache-2.0
// node: what launchers start on each machine; people start `train`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/failpoint_orders.h"
#include "trireme/cli/node_process.h"
#include "trireme/cli/node_secrets.h"

namespace trireme::cli::commands {
namespace {

constexpr std::size_t kLongestLine = 64 << 10;

// Byte by byte, so that no buffer of the library keeps what was in it.
std::string first_line() {
  std::string line;
  for (char byte = 0; line.size() < kLongestLine && ::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n';) line += byte;
  return line;
}

int run(NodeOptions options, const Console& console) {
  std::string line = first_line();
  const NodeSecrets secrets = node_secrets(line);
  wipe(line);
  obey_failpoint_orders(rpc::identity_of_certificate(secrets.credentials.certificate).name);
  options.has_launcher = true;
  return run_node(secrets, options, console);
}

Run declare(CLI::App& app) {
  const auto options = std::make_shared<NodeOptions>();
  app.add_option("--threads", options->threads, "cores to use; 0: the machine's, divided by its nodes")->check(CLI::Range(0, 1 << 12));
  app.add_option("--start-timeout", options->start_timeout, "seconds to wait for the coordinator and the other nodes")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  app.add_option("--keep", options->keep, "seconds to wait for a coordinator that is gone without a word")->check(CLI::Range(0.0, 86400.0));
  app.add_option("--events", options->events, "folder for a journal of everything it does");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry node() {
  return {.name = "node", .summary = "take part in a training (started by launchers)", .declare = declare, .is_hidden = true};
}

}  // namespace trireme::cli::commands
