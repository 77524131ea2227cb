// SPDX-License-Identifier: Apache-2.0
// The one exception type of Trireme, and the check for bugs.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace trireme {

// The values are gRPC's, so an error crosses the network unchanged.
enum class ErrorCode {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};
using enum ErrorCode;

std::string_view name_of(ErrorCode code);

// Thrown where a fault is found; the message says what, where, and what to do.
class Error : public std::runtime_error {
 public:
  template <class... Args>
  Error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)), code_(code) {}

  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// A bug, not a fault: prints the place and aborts.
[[noreturn]] void bug(const char* file, int line, std::string_view message);

// __builtin_FILE instead of std::source_location, which clang-tidy 14 cannot parse.
inline void ensure(bool condition, std::string_view message, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!condition) [[unlikely]] {
    bug(file, line, message);
  }
}

}  // namespace trireme
