// SPDX-License-Identifier: Apache-2.0
// What the system says of this process.
#include "trireme/run/setup/own_process.h"

#include <unistd.h>

#include <cstdlib>

namespace trireme::run {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::filesystem::path own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

bool rewrites_lines(int descriptor) { return ::isatty(descriptor) != 0 && environment_variable("TERM") != "dumb"; }

}  // namespace trireme::run
