// SPDX-License-Identifier: Apache-2.0
// Which version of a third-party library is in use. Each module that has some behind its fence lists them in libraries().
#pragma once

#include <string>
#include <vector>

namespace trireme {

struct LibraryVersion {
  std::string name;
  std::string version;  // of the library that was loaded; where it doesn't say, of the one that was built with
};

// Those of this module.
std::vector<LibraryVersion> libraries();

}  // namespace trireme
