// SPDX-License-Identifier: Apache-2.0
// RFC 4648, with padding.
#include "trireme/base/base64.h"

#include <cstddef>
#include <cstdint>

namespace trireme {

std::string to_base64(std::string_view bytes) {
  static constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kSigns[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

}  // namespace trireme
