// SPDX-License-Identifier: Apache-2.0
// Files as people name them: one by one, or many at once by a pattern.
#pragma once

#include <filesystem>
#include <vector>

namespace trireme::data {

// Each pattern is replaced by what it matches, sorted by name: * and ? stand for characters of a name, [ab] for one of them, ** for any
// folders. What exists under its own name is no pattern. not_found, naming the pattern, if it matches nothing; a path without
// such characters is handed on, whether it exists or not.
std::vector<std::filesystem::path> named_files(const std::vector<std::filesystem::path>& named);

}  // namespace trireme::data
