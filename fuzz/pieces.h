// SPDX-License-Identifier: Apache-2.0
// Several files in one fuzz input: the lengths of all but the last, three bytes each, then their contents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::fuzz {

inline constexpr std::size_t kLengthBytes = 3;

inline std::string pack(const std::vector<std::string>& pieces) {
  std::string header, contents;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t byte = 0; byte < kLengthBytes && i + 1 < pieces.size(); ++byte)
      header += static_cast<char>((pieces[i].size() >> (8 * byte)) & 0xff);
    contents += pieces[i];
  }
  return header + contents;
}

// Any input is good: a length too large takes what is left.
inline std::vector<std::string_view> unpack(std::string_view input, std::size_t count) {
  const std::string_view header = input.substr(0, kLengthBytes * (count - 1));
  input.remove_prefix(header.size());
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    std::size_t length = 0;
    for (std::size_t at = i * kLengthBytes, byte = 0; byte < kLengthBytes && at + byte < header.size(); ++byte)
      length |= static_cast<std::size_t>(static_cast<unsigned char>(header[at + byte])) << (8 * byte);
    pieces.push_back(input.substr(0, length));
    input.remove_prefix(std::min(length, input.size()));
  }
  pieces.push_back(input);
  return pieces;
}

}  // namespace trireme::fuzz
