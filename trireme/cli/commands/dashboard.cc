// SPDX-License-Identifier: Apache-2.0
// dashboard: a page that shows a run, or all of a folder, also while they go on.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "trireme/cli/browser.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/runs_cache.h"
#include "trireme/report/folder/run_folder.h"
#include "trireme/run/terminal/interrupts.h"
#include "trireme/run/training/folder_page.h"
#include "trireme/run/training/run_page.h"
#include "trireme/web/page.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string run = "runs";
  int port = 0;
  std::string address = "127.0.0.1";
  std::string token_file;
  bool no_open = false;
};

// Until Ctrl-C.
void serve(const std::string& url, const Options& o, const run::Interrupts& interrupts, const run::Console& console) {
  console.out << "dashboard " << url << "\n" << std::flush;
  console.err << fmt::format("the address has a secret in it: anyone who has it can read {}. Ctrl-C ends the dashboard, not the run.\n",
                             report::is_run(o.run) ? "this run" : "these runs");
  std::optional<Browser> browser;
  if (!o.no_open && has_screen()) browser.emplace(url);
  while (interrupts.signal() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

bool is_folder_of_runs(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && !report::is_run(path);
}

int run(const Options& o, const run::Console& console) {
  // A program that reads /metrics with the token in the file needs no page.
  if (o.token_file.empty()) web::require_page("the dashboard");
  const run::Interrupts interrupts;
  const web::ServerOptions server{.address = o.address, .port = o.port};
  if (is_folder_of_runs(o.run)) {
    const run::FolderPage page(o.run, runs_cache_file(), server, o.token_file);
    serve(page.url(), o, interrupts, console);
  } else {
    const run::RunPage page(o.run, server, o.token_file);
    serve(page.url(), o, interrupts, console);
  }
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("run", options->run, "the run's directory, e.g. runs/latest, or a folder of runs: all of them")
      .shown_as("RUN")
      .shows_default();
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
  return {.name = "dashboard", .summary = "show a run, or all runs of a folder, in the browser, also while they go on", .declare = declare};
}

}  // namespace trireme::cli::commands
