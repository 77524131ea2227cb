// SPDX-License-Identifier: Apache-2.0
// A training on a terminal: lines are rewritten where the terminal can do it, and nothing has a colour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/files.h"

namespace trireme {
namespace {

using testing::HasSubstr;
using testing::Not;

// What `trireme train` writes to a terminal of this kind.
std::string trained_on(const std::vector<std::pair<const char*, const char*>>& environment) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("trireme_terminal_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "job.toml", "model = 'mlp_128'\ndata = 'synthetic_digits'\n[train]\nepochs = 1\nthreads = 1\n");
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    for (const auto& [name, value] : environment) ::setenv(name, value, 1);
    ::execl(TRIREME_BINARY, "trireme", "train", (folder / "job.toml").c_str(), "--runs", (folder / "runs").c_str(), nullptr);
    ::_exit(127);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(terminal, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << text;
  ::close(terminal);
  std::filesystem::remove_all(folder);
  return text;
}

TEST(Terminal, ADumbOneGetsNoEscapeCodes) {
  EXPECT_THAT(trained_on({{"TERM", "xterm"}}), HasSubstr("\033[K")) << "else this test shows nothing";
  const std::string text = trained_on({{"TERM", "dumb"}});
  EXPECT_THAT(text, HasSubstr("trained 1 epoch"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

// Rewriting a line is no colour.
TEST(Terminal, NoColorIsObeyed) {
  EXPECT_THAT(trained_on({{"TERM", "xterm-256color"}, {"NO_COLOR", "1"}}), Not(testing::ContainsRegex("\033\\[[0-9;]*m")));
}

}  // namespace
}  // namespace trireme
