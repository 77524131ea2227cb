// SPDX-License-Identifier: Apache-2.0
// The one main().
#include <iostream>

#include "trireme/cli/application.h"
#include "trireme/cli/memory_guard.h"
#include "trireme/cli/wait_policy.h"

int main(int argc, char** argv) {
  trireme::cli::choose_wait_policy(argv);
  trireme::cli::limit_heap_arenas();
  trireme::cli::forbid_core_dumps();
  return trireme::cli::run_application(argc, argv, {.out = std::cout, .err = std::cerr});
}
