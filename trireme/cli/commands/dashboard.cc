// SPDX-License-Identifier: Apache-2.0
// dashboard: a page that shows a run, also while it goes on.
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "trireme/cli/browser.h"
#include "trireme/cli/command_entry.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/run/training/run_page.h"
#include "trireme/web/page.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string run;
  int port = 0;
  std::string address = "127.0.0.1";
  std::string token_file;
  bool no_open = false;
};

int run(const Options& o, const run::Console& console) {
  // A program that reads /metrics with the token in the file needs no page.
  if (o.token_file.empty()) web::require_page("the dashboard");
  const run::Interrupts interrupts;
  const run::RunPage page(o.run, {.address = o.address, .port = o.port}, o.token_file);
  console.out << "dashboard " << page.url() << "\n" << std::flush;
  console.err << "the address has a secret in it: anyone who has it can read this run. Ctrl-C ends the dashboard, not the run.\n";
  std::optional<Browser> browser;
  if (!o.no_open && has_screen()) browser.emplace(page.url());
  while (interrupts.signal() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("run", options->run, "the run's directory, e.g. runs/latest").required().shown_as("RUN");
  arguments.option("--port", options->port, "where to listen; without it a free port is found").between(1, 65535);
  arguments.option("--address", options->address, "of this machine, if others shall reach the page; it is not encrypted")
      .shown_as("IP")
      .shows_default();
  arguments.option("--token-file", options->token_file, "write the secret there, for programs that read /metrics or /api/run")
      .shown_as("FILE");
  arguments.flag("--no-open", options->no_open, "only print the address, don't open a browser");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry dashboard() {
  return {.name = "dashboard", .summary = "show a run in the browser, also while it goes on", .declare = declare};
}

}  // namespace trireme::cli::commands
