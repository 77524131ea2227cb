// SPDX-License-Identifier: Apache-2.0
// The cache directory from the environment.
#include "trireme/run/setup/cache_directory.h"

#include "trireme/run/setup/own_process.h"

namespace trireme::run {

std::filesystem::path cache_directory() {
  // The XDG rules: a relative path is to be ignored.
  if (const std::filesystem::path cache = environment_variable("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "trireme";
  if (const std::filesystem::path home = environment_variable("HOME"); home.is_absolute()) return home / ".cache" / "trireme";
  return {};
}

}  // namespace trireme::run
