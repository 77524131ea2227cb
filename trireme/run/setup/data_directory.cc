// SPDX-License-Identifier: Apache-2.0
// Where public data sets are kept.
#include "trireme/run/setup/data_directory.h"

#include "trireme/base/error.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::run {

namespace {

std::filesystem::path directory_or(std::string_view advice) {
  const std::filesystem::path cache = cache_directory();
  if (cache.empty()) throw Error{failed_precondition, "there is no folder to keep data sets in, since HOME is not set; {}", advice};
  return cache / "data";
}

}  // namespace

std::filesystem::path data_directory() { return directory_or("set XDG_CACHE_HOME to a folder of yours"); }

std::filesystem::path data_directory(const std::string& chosen) {
  return chosen.empty() ? directory_or("give one with --directory, or set XDG_CACHE_HOME") : std::filesystem::path(chosen);
}

}  // namespace trireme::run
