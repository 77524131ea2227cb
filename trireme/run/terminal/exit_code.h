// SPDX-License-Identifier: Apache-2.0
// What a run's end says to the shell.
#pragma once

#include "trireme/base/error.h"

namespace trireme::run {

enum ExitCode : int { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_preflight = 3, exit_quorum_lost = 4, exit_interrupted = 130 };

ExitCode exit_code_of(ErrorCode code);

}  // namespace trireme::run
