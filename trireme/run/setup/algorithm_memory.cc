// SPDX-License-Identifier: Apache-2.0
// Copies the engine's cache of algorithms into a run's directory and back.
#include "trireme/run/setup/algorithm_memory.h"

#include "trireme/base/files.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::run {

std::filesystem::path algorithm_cache() {
  const std::filesystem::path directory = cache_directory();
  return directory.empty() ? directory : directory / "algorithms.json";
}

void lend_algorithms(const std::filesystem::path& run_file) {
  const std::filesystem::path cache = algorithm_cache();
  if (!cache.empty() && std::filesystem::exists(cache)) write_file_atomically(run_file, read_file(cache));
}

void return_algorithms(const std::filesystem::path& run_file) {
  const std::filesystem::path cache = algorithm_cache();
  if (!cache.empty() && std::filesystem::exists(run_file)) write_file_atomically(cache, read_file(run_file));
}

}  // namespace trireme::run
