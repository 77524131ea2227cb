// SPDX-License-Identifier: Apache-2.0
// The cache directory from the environment.
#include "trireme/run/setup/cache_directory.h"

#include <cstdlib>

namespace trireme::run {
namespace {

std::filesystem::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path cache_directory() {
  // The XDG rules: a relative path is to be ignored.
  if (const auto cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "trireme";
  if (const auto home = variable("HOME"); home.is_absolute()) return home / ".cache" / "trireme";
  return {};
}

}  // namespace trireme::run
