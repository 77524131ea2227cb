// SPDX-License-Identifier: Apache-2.0
// Which versions of the libraries for downloads and archives are in use.
#pragma once

#include <vector>

#include "trireme/base/library_version.h"

namespace trireme::fetch {

std::vector<LibraryVersion> libraries();

}  // namespace trireme::fetch
