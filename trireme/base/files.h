// SPDX-License-Identifier: Apache-2.0
// Whole files in and out; a written file is there completely or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace trireme {

std::string read_file(const std::filesystem::path& path);

// Temporary name, fsync, rename, fsync of the directory: a reader or a crash never sees half a file.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace trireme
