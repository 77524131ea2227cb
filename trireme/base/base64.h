// SPDX-License-Identifier: Apache-2.0
// Bytes as text, for data: addresses.
#pragma once

#include <string>
#include <string_view>

namespace trireme {

std::string to_base64(std::string_view bytes);

}  // namespace trireme
