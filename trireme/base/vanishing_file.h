// SPDX-License-Identifier: Apache-2.0
// Files of processes and control groups, which end whenever they like.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trireme {

// None if there is no such file, or if what it belongs to ends between opening and reading it.
std::optional<std::string> read_vanishing_file(const std::filesystem::path& path);

}  // namespace trireme
