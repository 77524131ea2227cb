// SPDX-License-Identifier: Apache-2.0
// Single files out of archives (tar with any compression, zip, Debian packages) and out of gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/fetch/set_entry.h"

namespace trireme::fetch {

struct Member {
  std::string name;        // the last part of its path in the archive
  std::int64_t limit = 0;  // bytes; a longer one is refused
};

// Writes each wanted member that is there as folder/NAME: the archive's own paths are never used. Returns the names found.
std::vector<std::string> extract_members(const std::filesystem::path& archive, const std::vector<Member>& wanted,
                                         const std::filesystem::path& folder);

// Writes what the gzip file `packed` holds to `plain`.
void decompress(const std::filesystem::path& packed, const std::filesystem::path& plain, std::int64_t limit);

// The Unpack of archives that hold the standard files, plain or as .gz, in whatever folder.
void unpack_standard_files(const std::filesystem::path& archive, const std::vector<SetFile>& wanted, const std::filesystem::path& folder);

}  // namespace trireme::fetch
