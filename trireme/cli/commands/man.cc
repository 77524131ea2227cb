// SPDX-License-Identifier: Apache-2.0
// man: manual pages, printed or written into a folder.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/files.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/manual_page.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string command;
  std::string out;
};

void write_all(const std::vector<CommandDescription>& commands, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "trireme.1", manual_page(commands));
  for (const CommandDescription& command : commands)
    if (!command.is_hidden) write_file_atomically(folder / ("trireme-" + command.name + ".1"), manual_page(command));
}

int run(const Options& o, const run::Console& console) {
  std::vector<CommandDescription> commands = describe_commands();
  std::erase_if(commands, [](const CommandDescription& command) { return command.is_hidden; });
  if (!o.out.empty() && !o.command.empty())
    throw Error{invalid_argument, "--out writes the pages of all commands; leave '{}' out", o.command};
  if (!o.out.empty())
    write_all(commands, o.out);
  else
    console.out << (o.command.empty() ? manual_page(commands) : manual_page(find_entry(commands, o.command, "command")));
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("command", options->command, "whose page to print, for: trireme man train | man -l -").shown_as("COMMAND");
  arguments.option("--out", options->out, "write all pages into this folder").shown_as("FOLDER");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry man() { return {.name = "man", .summary = "print the manual page of a command, as roff", .declare = declare}; }

}  // namespace trireme::cli::commands
