// SPDX-License-Identifier: Apache-2.0
// Starts the program again with a shorter spin.
#include "trireme/cli/wait_policy.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace trireme::cli {
namespace {

// Long enough for the gap between two steps of a network (measured: docs/performance.md), short enough to lose little.
constexpr const char* kSpinCount = "10000";

}  // namespace

void choose_wait_policy(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown || ::setenv("GOMP_SPINCOUNT", kSpinCount, 1) != 0) return;
  ::execv(self.c_str(), argv);  // if it fails, the default must do
}

}  // namespace trireme::cli
