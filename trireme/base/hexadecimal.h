// SPDX-License-Identifier: Apache-2.0
// Bytes as hexadecimal digits, for secrets inside JSON.
#pragma once

#include <string>

namespace trireme {

std::string to_hex(const std::string& bytes);
std::string from_hex(const std::string& text);  // throws std::exception for other characters

}  // namespace trireme
