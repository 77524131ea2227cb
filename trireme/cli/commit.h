// SPDX-License-Identifier: Apache-2.0
// Which commit this program was built from; a small file that every build brings up to date (cmake/WriteCommit.cmake).
#pragma once

#include <string_view>

namespace trireme::cli {

struct Commit {
  std::string_view hash;     // "unknown": built without git, or from an archive
  bool is_modified = false;  // files that git knows differed from it
};

Commit commit();

}  // namespace trireme::cli
