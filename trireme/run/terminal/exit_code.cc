// SPDX-License-Identifier: Apache-2.0
// Exit codes by the kind of an error.
#include "trireme/run/terminal/exit_code.h"

namespace trireme::run {

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ok:
      return exit_ok;
    case invalid_argument:
    case not_found:
      return exit_usage;
    case failed_precondition:
      return exit_preflight;
    case cancelled:
      return exit_interrupted;
    default:
      return exit_failed;
  }
}

}  // namespace trireme::run
