// SPDX-License-Identifier: Apache-2.0
// Which versions of the libraries for collectives are in use.
#pragma once

#include <vector>

#include "trireme/base/library_version.h"

namespace trireme::comm {

std::vector<LibraryVersion> libraries();

}  // namespace trireme::comm
