// SPDX-License-Identifier: Apache-2.0
// worker-0.json, worker-1.json ... of `trireme export tf_config --out`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/run/terminal/console.h"

namespace trireme::cli {

// One file for each worker, printed by name. Files of an earlier call for more workers are removed if they are as that call wrote them:
// the folder keeps a list with checksums. A worker's file of another origin is left and named in a warning.
void write_worker_files(const std::filesystem::path& folder, const std::vector<std::string>& configs, const run::Console& console);

}  // namespace trireme::cli
