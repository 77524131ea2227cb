// SPDX-License-Identifier: Apache-2.0
// Where Trireme remembers what it would otherwise measure again.
#pragma once

#include <filesystem>

namespace trireme::run {

// $XDG_CACHE_HOME/trireme or ~/.cache/trireme; empty if there is no home.
std::filesystem::path cache_directory();

}  // namespace trireme::run
