// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes bytes as two hexadecimal digits each.
#include "trireme/base/hexadecimal.h"

#include <fmt/format.h>

namespace trireme {

std::string to_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace trireme
