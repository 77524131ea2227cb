// SPDX-License-Identifier: Apache-2.0
// Where public data sets are kept.
#pragma once

#include <filesystem>
#include <string>

namespace trireme::run {

// `chosen`, as after --directory, or "data" in the cache directory if it is empty. Throws failed_precondition if there is neither.
std::filesystem::path data_directory(const std::string& chosen = "");

}  // namespace trireme::run
