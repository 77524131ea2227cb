// SPDX-License-Identifier: Apache-2.0
// $BROWSER or xdg-open; for an address, with a file that leads to it.
#include "trireme/cli/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <system_error>
#include <utility>

#include "trireme/base/child_signals.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::cli {
namespace {

// Whether the program is there. It hands over and ends, or goes on by itself; what it says is not for the user's terminal, and a terminal
// that is closed does not end it.
bool spawn(std::vector<std::string> command) {
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const ChildSignals signals(POSIX_SPAWN_SETSID);
  const int fault = ::posix_spawnp(&child, command.front().c_str(), &quiet, signals.attributes(), arguments.data(), environ);
  if (fault == 0) ::waitpid(child, nullptr, WNOHANG);
  posix_spawn_file_actions_destroy(&quiet);
  return fault == 0;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::vector<std::string> command_of(const std::string& text, const std::string& file) {
  std::vector<std::string> words;
  std::istringstream in(text);
  bool has_place = false;
  for (std::string word; in >> word; words.push_back(word)) {
    const auto place = word.find("%s");
    if (place == std::string::npos) continue;
    word.replace(place, 2, file);
    has_place = true;
  }
  if (!words.empty() && !has_place) words.push_back(file);
  return words;
}

}  // namespace

std::vector<std::vector<std::string>> browser_commands(std::string_view browser, const std::string& file) {
  std::vector<std::vector<std::string>> commands;
  std::istringstream in{std::string(browser)};
  for (std::string text; std::getline(in, text, ':');)
    if (std::vector<std::string> command = command_of(text, file); !command.empty()) commands.push_back(std::move(command));
  commands.push_back({"xdg-open", file});
  return commands;
}

void open_in_browser(const std::filesystem::path& file) {
  const char* const browser = std::getenv("BROWSER");
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(file, error);
  for (const auto& command : browser_commands(browser == nullptr ? "" : browser, (error ? file : whole).string()))
    if (spawn(command)) return;
}

bool has_screen() { return isatty(STDOUT_FILENO) != 0 && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")); }

Browser::Browser(const std::string& url) {
  const std::filesystem::path cache = run::cache_directory();
  if (cache.empty()) return;
  try {
    make_directories(cache);
    const std::filesystem::path file = cache / fmt::format("dashboard-{}.html", ::getpid());
    write_secret_file(file, fmt::format("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={}\"><title>Trireme</title>\n", url));
    file_ = file;
    open_in_browser(file_);
  } catch (const Error&) {  // the address is printed in any case
  }
}

Browser::~Browser() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace trireme::cli
