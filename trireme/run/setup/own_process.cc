// SPDX-License-Identifier: Apache-2.0
// What the system says of this process.
#include "trireme/run/setup/own_process.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace trireme::run {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::filesystem::path own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  return ::isatty(descriptor) != 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool rewrites_lines(int descriptor) { return ::isatty(descriptor) != 0 && environment_variable("TERM") != "dumb"; }

}  // namespace trireme::run
