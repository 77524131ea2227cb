// SPDX-License-Identifier: Apache-2.0
// xdg-open, with a file that leads to the address.
#include "trireme/cli/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <system_error>

#include "trireme/base/child_signals.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::cli {
namespace {

// xdg-open hands over and ends; what it says is not for the user's terminal.
void open_file(const std::filesystem::path& file) {
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
  std::string program = "xdg-open";
  std::string argument = file.string();
  std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), &quiet, ChildSignals().attributes(), arguments.data(), environ) == 0)
    ::waitpid(child, nullptr, WNOHANG);
  posix_spawn_file_actions_destroy(&quiet);
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool has_screen() { return isatty(STDOUT_FILENO) != 0 && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")); }

Browser::Browser(const std::string& url) {
  const std::filesystem::path cache = run::cache_directory();
  if (cache.empty()) return;
  try {
    make_directories(cache);
    const std::filesystem::path file = cache / fmt::format("dashboard-{}.html", ::getpid());
    write_secret_file(file, fmt::format("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={}\"><title>Trireme</title>\n", url));
    file_ = file;
    open_file(file_);
  } catch (const Error&) {  // the address is printed in any case
  }
}

Browser::~Browser() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace trireme::cli
