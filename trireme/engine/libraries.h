// SPDX-License-Identifier: Apache-2.0
// Which versions of the libraries that compute are in use.
#pragma once

#include <vector>

#include "trireme/base/library_version.h"

namespace trireme::engine {

std::vector<LibraryVersion> libraries();

}  // namespace trireme::engine
