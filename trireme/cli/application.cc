// SPDX-License-Identifier: Apache-2.0
// Command look-up, help, and the end of every error.
#include "trireme/cli/application.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <system_error>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/version.h"
#include "trireme/run/terminal/exit_code.h"

namespace trireme::cli {
namespace {

int usage_error(const run::Console& console, std::string_view message, std::string_view command) {
  console.err << "trireme: error: " << message << "\n";
  console.err << "Try 'trireme " << command << (command.empty() ? "" : " ") << "--help'.\n";
  return run::exit_usage;
}

using Commands = std::vector<std::pair<CLI::App*, Run>>;

Commands declare_commands(CLI::App& app) {
  Commands commands;
  for (const CommandEntry& entry : commands::catalog()) {
    CLI::App* command = app.add_subcommand(std::string(entry.name), std::string(entry.summary));
    if (entry.is_hidden) command->group("");
    Arguments arguments(*command);
    commands.emplace_back(command, entry.declare(arguments));
  }
  return commands;
}

// Unlike CLI11, it says which one is near; of those that people run.
void check_command(std::string_view name) {
  std::vector<CommandEntry> shown = commands::catalog();
  if (std::ranges::any_of(shown, [&](const CommandEntry& entry) { return entry.name == name; })) return;
  std::erase_if(shown, [](const CommandEntry& entry) { return entry.is_hidden; });
  find_entry(shown, name, "command");
}

// "-gpus" is what users of blueprints are used to; CLI11 would read it as the flags -g -p -u -s.
std::vector<const char*> with_two_dashes(int argc, const char* const* argv) {
  constexpr std::array<std::string_view, 6> kSelections{"--all", "--cpus", "--cpu", "--gpus", "--gpu", "--energy"};
  std::vector<const char*> words(argv, argv + argc);
  for (const char*& word : words) {
    const auto* const same = std::find_if(kSelections.begin(), kSelections.end(), [&](std::string_view s) { return s.substr(1) == word; });
    if (same != kSelections.end()) word = same->data();
  }
  return words;
}

int parse_and_run(int argc, const char* const* argv, const run::Console& console) {
  CLI::App app("Trains neural networks on the machines you already have.", "trireme");
  app.set_version_flag("--version", fmt::format("trireme {}", version()));
  app.require_subcommand(1);
  const Commands commands = declare_commands(app);
  if (argc < 2) {
    console.err << app.help();
    return run::exit_usage;
  }
  const std::string_view first = argv[1];
  const bool names_command = !first.starts_with("-");
  if (names_command) check_command(first);
  try {
    app.parse(argc, with_two_dashes(argc, argv).data());
  } catch (const CLI::Success& success) {  // --help and --version
    return app.exit(success, console.out, console.err);
  } catch (const CLI::ParseError& error) {  // a foreign exception, which stays within the fence of CLI11
    return usage_error(console, error.what(), names_command ? first : "");
  }
  const auto chosen = std::find_if(commands.begin(), commands.end(), [](const auto& row) { return row.first->parsed(); });
  return chosen->second(console);
}

// The standard library's own words for a thread that was not granted are the system's only.
std::string in_words(const std::system_error& error) {
  if (error.code() != std::errc::resource_unavailable_try_again) return error.what();
  return fmt::format(
      "no further thread could be started: {}; raise the limit of threads (ulimit -u, or pids.max of the container's or Slurm's cgroup) or "
      "use fewer nodes on this machine",
      error.what());
}

}  // namespace

int run_application(int argc, const char* const* argv, const run::Console& console) {
  try {
    return parse_and_run(argc, argv, console);
  } catch (const Error& error) {  // for main: every error that was not handled below ends here
    console.err << "trireme: error: " << error.what() << "\n";
    return run::exit_code_of(error.code());
  } catch (const std::system_error& error) {  // for main: of the standard library, e.g. no further thread
    console.err << "trireme: error: " << in_words(error) << "\n";
    return run::exit_failed;
  } catch (const std::exception& error) {  // for main: any other foreign exception
    console.err << "trireme: error: " << error.what() << "\n";
    return run::exit_failed;
  }
}

}  // namespace trireme::cli
