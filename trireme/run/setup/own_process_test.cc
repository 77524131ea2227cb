// SPDX-License-Identifier: Apache-2.0
// Which terminals get escape codes, and what is advised without a home directory.
#include "trireme/run/setup/own_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/run/setup/data_directory.h"

namespace trireme::run {
namespace {

using testing::HasSubstr;
using testing::Not;

// The environment as it was, when the test is over.
class Environment {
 public:
  void set(const std::string& name, const char* value) {
    if (!before_.contains(name))
      before_[name] = std::getenv(name.c_str()) == nullptr ? std::nullopt : std::optional(environment_variable(name.c_str()));
    put(name, value);
  }
  ~Environment() {
    for (const auto& [name, value] : before_) put(name, value ? value->c_str() : nullptr);
  }
  Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void put(const std::string& name, const char* value) {
    if (value == nullptr)
      ::unsetenv(name.c_str());
    else
      ::setenv(name.c_str(), value, 1);
  }
  std::map<std::string, std::optional<std::string>> before_;
};

TEST(OwnProcess, OnlyATerminalThatKnowsEscapeCodesHasLinesRewritten) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_TRUE(::isatty(terminal));
  Environment environment;
  environment.set("TERM", "xterm");
  EXPECT_TRUE(rewrites_lines(terminal));
  environment.set("TERM", "dumb");
  EXPECT_FALSE(rewrites_lines(terminal));
  const winsize size{.ws_row = 24, .ws_col = 81, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(terminal_columns(terminal), 81U);
  ::close(terminal);
  environment.set("TERM", "xterm");
  const int file = ::open("/dev/null", O_WRONLY);
  EXPECT_FALSE(rewrites_lines(file));
  EXPECT_EQ(terminal_columns(file), 0U);
  ::close(file);
}

// `train` has no --directory.
TEST(OwnProcess, WithoutAHomeTheAdviceNamesWhatTheCommandHas) {
  Environment environment;
  environment.set("HOME", nullptr);
  environment.set("XDG_CACHE_HOME", nullptr);
  EXPECT_THAT(thrown_error([] { data_directory(); }), AllOf(HasSubstr("set XDG_CACHE_HOME"), Not(HasSubstr("--directory"))));
  EXPECT_THAT(thrown_error([] { data_directory(std::string()); }), HasSubstr("--directory"));
}

}  // namespace
}  // namespace trireme::run
