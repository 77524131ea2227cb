// SPDX-License-Identifier: Apache-2.0
// Which versions of the libraries that read files are in use.
#pragma once

#include <vector>

#include "trireme/base/library_version.h"

namespace trireme::data {

std::vector<LibraryVersion> libraries();

}  // namespace trireme::data
