// SPDX-License-Identifier: Apache-2.0
// The engine's choices of algorithms: remembered for the user, and kept with each run, so that it can be repeated to the bit.
#pragma once

#include <filesystem>

namespace trireme::run {

// In the user's cache directory; empty if there is none.
std::filesystem::path algorithm_cache();

// A new run begins with what the user's cache knows, and gives back what it learned.
void lend_algorithms(const std::filesystem::path& run_file);
void return_algorithms(const std::filesystem::path& run_file);

}  // namespace trireme::run
