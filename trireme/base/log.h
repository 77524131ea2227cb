// SPDX-License-Identifier: Apache-2.0
// Log lines for people, on stderr; handed to the code that logs, never global.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

namespace trireme {

enum class LogLevel { debug, info, warning, error };

class Log {
 public:
  // `prefix` stands before each line, e.g. "[rank 3] "; empty for a single process.
  explicit Log(LogLevel level = LogLevel::info, std::string_view prefix = "");

  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::debug, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void write(LogLevel level, std::string_view line) const;

  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace trireme
