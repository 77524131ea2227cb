// SPDX-License-Identifier: Apache-2.0
// The whole program behind main(): finds the command, runs it, and turns errors into words and an exit code.
#pragma once

#include "trireme/base/error.h"
#include "trireme/cli/command_entry.h"

namespace trireme::cli {

enum ExitCode : int { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_preflight = 3, exit_quorum_lost = 4, exit_interrupted = 130 };

ExitCode exit_code_of(ErrorCode code);

int run_application(int argc, const char* const* argv, const Console& console);

}  // namespace trireme::cli
