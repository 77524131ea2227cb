// SPDX-License-Identifier: Apache-2.0
// A secret shared by processes that were started from outside: from it each makes its own certificate and the job's key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "trireme/run/secrets/node_secrets.h"

namespace trireme::run {

// A new file that only this user can read, whatever stood there.
void make_secret_file(const std::filesystem::path& path);
std::string read_secret_file(const std::filesystem::path& path);

// What the node with this rank needs, alone on its machine; `coordinator` is "10.0.0.1:4711".
NodeSecrets secrets_of_rank(std::int64_t rank, const std::string& coordinator, const std::string& secret);

}  // namespace trireme::run
