// SPDX-License-Identifier: Apache-2.0
// Tests that a process which asks for it leaves no core dump.
#include "trireme/cli/memory_guard.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace trireme::cli {
namespace {

TEST(MemoryGuardDeathTest, NoCoreDumps) {
  EXPECT_EXIT(
      {
        forbid_core_dumps();
        rlimit limit{};
        ::getrlimit(RLIMIT_CORE, &limit);
        std::_Exit(::prctl(PR_GET_DUMPABLE) == 0 && limit.rlim_cur == 0 && limit.rlim_max == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trireme::cli
