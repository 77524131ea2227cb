// SPDX-License-Identifier: Apache-2.0
// Manual pages, from the same description as help and completion.
#pragma once

#include <string>
#include <vector>

#include "trireme/cli/command_description.h"

namespace trireme::cli {

// trireme.1: what there is.
std::string manual_page(const std::vector<CommandDescription>& commands);
// trireme-train.1: one command with its arguments, and those of its sub-commands.
std::string manual_page(const CommandDescription& command);

}  // namespace trireme::cli
