// SPDX-License-Identifier: Apache-2.0
// The version of Gloo, which says it in its header only.
#include "trireme/comm/libraries.h"

#include <fmt/format.h>
#include <gloo/config.h>

namespace trireme::comm {

std::vector<LibraryVersion> libraries() {
  return {{"Gloo", fmt::format("{}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH)}};
}

}  // namespace trireme::comm
