// SPDX-License-Identifier: Apache-2.0
// The whole program behind main(): finds the command, runs it, and turns errors into words and an exit code.
#pragma once

#include "trireme/cli/command_entry.h"

namespace trireme::cli {

int run_application(int argc, const char* const* argv, const run::Console& console);

}  // namespace trireme::cli
