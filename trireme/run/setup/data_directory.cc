// SPDX-License-Identifier: Apache-2.0
// Where public data sets are kept.
#include "trireme/run/setup/data_directory.h"

#include "trireme/base/error.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::run {

std::filesystem::path data_directory(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const std::filesystem::path cache = cache_directory();
  if (cache.empty())
    throw Error{failed_precondition, "there is no home to keep data sets in; say where with --directory or XDG_CACHE_HOME"};
  return cache / "data";
}

}  // namespace trireme::run
