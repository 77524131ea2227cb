// SPDX-License-Identifier: Apache-2.0
// greet: a command that is added from outside.
#include <memory>

#include "trireme/cli/command_entry.h"

namespace trireme::cli::commands {
namespace {

Run declare(Arguments& arguments) {
  const auto name = std::make_shared<std::string>();
  arguments.option("name", *name, "who is greeted").required();
  return [name](const run::Console& console) {
    console.out << "hello, " << *name << "\n";
    return 0;
  };
}

}  // namespace

CommandEntry greet() { return {.name = "greet", .summary = "greets the given name", .declare = declare}; }

}  // namespace trireme::cli::commands
