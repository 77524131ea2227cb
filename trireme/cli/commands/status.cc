// SPDX-License-Identifier: Apache-2.0
// status: where a run stands.
#include <memory>

#include "trireme/cli/command_entry.h"
#include "trireme/cli/run_status.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string run;
  bool json = false;
};

int run(const Options& o, const run::Console& console) {
  const RunStatus status = status_of(train::RunDirectory::open(o.run));
  console.out << (o.json ? json_of(status) : text_of(status));
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("run", options->run, "the run's directory, e.g. runs/latest").required().shown_as("RUN");
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry status() {
  return {.name = "status", .summary = "show where a run stands: strategy, generation, progress, nodes", .declare = declare};
}

}  // namespace trireme::cli::commands
