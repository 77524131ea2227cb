// SPDX-License-Identifier: Apache-2.0
// The version of this program, as the root CMakeLists.txt states it.
#pragma once

#include <string_view>

namespace trireme {

std::string_view version();

}  // namespace trireme
