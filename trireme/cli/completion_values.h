// SPDX-License-Identifier: Apache-2.0
// The values of an argument, by its choices or by the word for its value: RUN, STRATEGY, job.toml.
#pragma once

#include <string>

#include "trireme/cli/command_description.h"
#include "trireme/cli/completion.h"

namespace trireme::cli {

// Those that `word`, the beginning of the value, may become, and perhaps more.
Completions values_of(const ArgumentDescription& argument, const std::string& word);

}  // namespace trireme::cli
