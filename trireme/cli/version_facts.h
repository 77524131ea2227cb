// SPDX-License-Identifier: Apache-2.0
// What `trireme version` says: this program, what it was made of, and what it finds here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/json.h"
#include "trireme/base/library_version.h"
#include "trireme/cli/commit.h"
#include "trireme/engine/kernels/instruction_set.h"

namespace trireme::cli {

struct Feature {
  std::string name;
  bool is_there = false;
  std::string remark;  // why it is not there, or what it is
};

struct VersionFacts {
  std::string version;
  Commit commit;
  std::string compiler;    // "GCC 12.2.0"
  std::string build_type;  // "Release"
  std::string system;      // "Linux x86_64"
  engine::InstructionSet instruction_set;
  int cores = 0;
  std::vector<LibraryVersion> libraries;
  std::vector<Feature> features;
};

VersionFacts version_facts();
std::string to_text(const VersionFacts& facts);
Json to_json(const VersionFacts& facts);

}  // namespace trireme::cli
