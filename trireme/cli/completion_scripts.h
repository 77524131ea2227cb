// SPDX-License-Identifier: Apache-2.0
// The scripts that make shells ask `trireme complete` at each Tab. They know nothing of the commands.
#pragma once

#include <string_view>
#include <vector>

namespace trireme::cli {

struct CompletionScript {
  std::string_view name;  // of the shell
  std::string_view text;
};

const std::vector<CompletionScript>& completion_scripts();

}  // namespace trireme::cli
