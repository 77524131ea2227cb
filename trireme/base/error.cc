// SPDX-License-Identifier: Apache-2.0
// Names of error codes, and the end of a program that found its own bug.
#include "trireme/base/error.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace trireme {

std::string_view name_of(ErrorCode code) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "ok",        "cancelled",      "unknown",           "invalid_argument",   "deadline_exceeded",
      "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
      "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
      "data_loss", "unauthenticated"};
  return kNames.at(static_cast<std::size_t>(code));
}

void bug(const char* file, int line, std::string_view message) {
  std::fprintf(stderr, "bug at %s:%d: %.*s\n", file, line, static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace trireme
