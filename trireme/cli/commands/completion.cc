// SPDX-License-Identifier: Apache-2.0
// completion: the script that a shell completes Trireme's command lines by.
#include <memory>

#include "trireme/base/catalog_lookup.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/completion_scripts.h"

namespace trireme::cli::commands {
namespace {

Run declare(Arguments& arguments) {
  const auto shell = std::make_shared<std::string>();
  arguments
      .option("shell", *shell,
              "which shell's script to print; in ~/.bashrc: source <(trireme completion bash); docs/install.md has all three")
      .required()
      .one_of({"bash", "zsh", "fish"});
  return [shell](const run::Console& console) {
    console.out << find_entry(completion_scripts(), *shell, "shell").text;
    return 0;
  };
}

}  // namespace

CommandEntry completion() {
  return {.name = "completion", .summary = "print the script that completes command lines in bash, zsh or fish", .declare = declare};
}

}  // namespace trireme::cli::commands
