// SPDX-License-Identifier: Apache-2.0
// Another program, run to its end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::fetch {

// Runs `arguments` (the first one is the program, looked up in PATH; no shell is involved) in `directory` and returns what it wrote to
// stdout. Throws unavailable with the end of its stderr if it cannot be started, fails, or takes longer than `limit`.
std::string run_process(const std::vector<std::string>& arguments, const std::filesystem::path& directory, Seconds limit);

}  // namespace trireme::fetch
