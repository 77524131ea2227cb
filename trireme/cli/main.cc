// SPDX-License-Identifier: Apache-2.0
// The one main().
#include <cstdio>
#include <iostream>

#include "trireme/cli/application.h"
#include "trireme/cli/memory_guard.h"
#include "trireme/cli/standard_output.h"
#include "trireme/cli/wait_policy.h"

int main(int argc, char** argv) {
  trireme::cli::choose_wait_policy(argv);
  trireme::cli::limit_heap_arenas();
  trireme::cli::forbid_core_dumps();
  trireme::cli::choose_pipe_signal(argc, argv);
  trireme::cli::StandardOutput output(std::cout, stdout, std::cerr);
  return output.finish(trireme::cli::run_application(argc, argv, {.out = std::cout, .err = std::cerr}));
}
