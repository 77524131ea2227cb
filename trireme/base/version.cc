// SPDX-License-Identifier: Apache-2.0
// The one file that is compiled again when the version changes.
#include "trireme/base/version.h"

namespace trireme {

std::string_view version() { return TRIREME_VERSION; }

}  // namespace trireme
