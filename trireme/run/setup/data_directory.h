// SPDX-License-Identifier: Apache-2.0
// Where public data sets are kept.
#pragma once

#include <filesystem>
#include <string>

namespace trireme::run {

// "data" in the cache directory. Throws failed_precondition if there is none.
std::filesystem::path data_directory();
// Of a command that has --directory: what follows it, or the one above if that is empty.
std::filesystem::path data_directory(const std::string& chosen);

}  // namespace trireme::run
