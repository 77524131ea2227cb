// SPDX-License-Identifier: Apache-2.0
// What lies in a folder, in an order that is the same everywhere.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace trireme::data {

// Sorted by name; hidden entries are passed over. not_found if `folder` is none, unavailable if it cannot be listed.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

// Everything below `folder` that isn't a directory, sorted; links to directories are listed, not followed, so that no loop is endless.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

// Whether the name ends so, e.g. ".png"; capitals don't matter.
bool has_extension(const std::filesystem::path& file, std::string_view extension);

}  // namespace trireme::data
