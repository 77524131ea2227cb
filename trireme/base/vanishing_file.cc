// SPDX-License-Identifier: Apache-2.0
// Reads without failing. A stream's iterator, which throws past the stream when a read fails, would end the program.
#include "trireme/base/vanishing_file.h"

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme {

std::optional<std::string> read_vanishing_file(const std::filesystem::path& path) {
  try {
    return read_file(path);
  } catch (const Error&) {  // gone
    return std::nullopt;
  }
}

}  // namespace trireme
