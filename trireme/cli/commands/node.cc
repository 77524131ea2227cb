// SPDX-License-Identifier: Apache-2.0
// node: what launchers start on each machine; people start `train`.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/failpoint_orders.h"
#include "trireme/cluster/launch/hand_over.h"
#include "trireme/run/launch/mpi_launch.h"
#include "trireme/run/launch/node_process.h"
#include "trireme/run/secrets/node_secrets.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  run::NodeOptions node;
  std::string mpi_secret;
};

// MPI's processes leave together, which takes a moment after the launcher has closed our standard input.
void leave_soon_after_launcher() {
  constexpr std::chrono::seconds kToFinish{3};
  std::thread([kToFinish] {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    std::this_thread::sleep_for(kToFinish);
    ::_exit(143);
  }).detach();
}

constexpr std::size_t kMaxLine = 64 << 10;

// Byte by byte, so that no buffer of the library keeps what was in it.
std::string first_line() {
  std::string line;
  for (char byte = 0; line.size() < kMaxLine && ::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n';) line += byte;
  return line;
}

int run(const Options& given, const run::Console& console) {
  std::string line = cluster::taken_over(first_line());
  const run::NodeSecrets secrets = run::node_secrets(line);
  wipe(line);
  obey_failpoint_orders(rpc::identity_of_certificate(secrets.credentials.certificate).name);
  run::NodeOptions options = given.node;
  options.has_launcher = given.mpi_secret.empty();
  if (options.has_launcher) return run::run_node(secrets, options, console);
  leave_soon_after_launcher();
  return run::run_first_mpi_node(secrets, given.mpi_secret, options, console);
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("--threads", options->node.threads, "cores to use; 0: the machine's, divided by its nodes").between(0, 1 << 12);
  arguments.option("--start-timeout", options->node.start_timeout, "seconds to wait for the coordinator and the other nodes")
      .between(1.0, 86400.0)
      .shows_default();
  arguments.option("--keep", options->node.keep, "seconds to wait for a coordinator that is gone without a word").between(0.0, 86400.0);
  arguments.option("--events", options->node.events, "folder for a journal of everything it does");
  arguments.option("--mpi-secret", options->mpi_secret, "the first process of mpirun: a file whose content the others get by MPI")
      .shown_as("FILE");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry node() {
  return {.name = "node", .summary = "take part in a training (started by launchers)", .declare = declare, .is_hidden = true};
}

}  // namespace trireme::cli::commands
