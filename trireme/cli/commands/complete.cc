// SPDX-License-Identifier: Apache-2.0
// complete: what the scripts of `trireme completion` ask at each Tab.
#include <memory>
#include <string>
#include <vector>

#include "trireme/cli/command_entry.h"
#include "trireme/cli/completion.h"

namespace trireme::cli::commands {
namespace {

Run declare(Arguments& arguments) {
  const auto words = std::make_shared<std::vector<std::string>>();
  arguments.option("words", *words, "after -- and the program's name; the last one is to be completed");
  return [words](const run::Console& console) {
    console.out << to_lines(complete(describe_commands(), *words));
    return 0;
  };
}

}  // namespace

CommandEntry complete() {
  return {.name = "complete", .summary = "what a word of a command line may become", .declare = declare, .is_hidden = true};
}

}  // namespace trireme::cli::commands
