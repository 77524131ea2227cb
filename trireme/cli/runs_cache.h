// SPDX-License-Identifier: Apache-2.0
// Where lists of runs remember what they read.
#pragma once

#include <filesystem>

#include "trireme/run/setup/cache_directory.h"

namespace trireme::cli {

// Empty if there is no home.
inline std::filesystem::path runs_cache_file() {
  const std::filesystem::path cache = run::cache_directory();
  return cache.empty() ? cache : cache / "runs.json";
}

}  // namespace trireme::cli
