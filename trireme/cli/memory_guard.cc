// SPDX-License-Identifier: Apache-2.0
// Limits and a flag, of the kernel and of malloc.
#include "trireme/cli/memory_guard.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace trireme::cli {

// The limit alone is not enough: systems that pipe dumps to a program ignore it. A debugger that starts the program can still
// follow it; one that comes later needs root.
void forbid_core_dumps() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
}

void limit_heap_arenas() {
  constexpr int kArenas = 2;
  ::mallopt(M_ARENA_MAX, kArenas);
}

}  // namespace trireme::cli
