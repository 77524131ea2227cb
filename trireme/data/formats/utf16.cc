// SPDX-License-Identifier: Apache-2.0
// Units of two bytes; a pair of surrogates is one character.
#include "trireme/data/formats/utf16.h"

#include <cstdint>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

constexpr std::string_view kLittleEndian = "\xff\xfe", kBigEndian = "\xfe\xff";

std::uint32_t unit_at(std::string_view bytes, std::size_t at, bool little_endian) {
  const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
  return little_endian ? first | second << 8 : first << 8 | second;
}

void append_utf8(std::string& text, std::uint32_t character) {
  if (character < 0x80) {
    text += static_cast<char>(character);
    return;
  }
  const int following = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xff00U >> (following + 1) & 0xffU) | character >> (6 * following));
  for (int i = following - 1; i >= 0; --i) text += static_cast<char>(0x80 | (character >> (6 * i) & 0x3f));
}

}  // namespace

bool is_utf16(std::string_view bytes) { return bytes.starts_with(kLittleEndian) || bytes.starts_with(kBigEndian); }

std::string utf8_of_utf16(std::string_view bytes, std::string_view name) {
  const bool little_endian = bytes.starts_with(kLittleEndian);
  if (bytes.size() % 2 != 0) throw Error{data_loss, "{}: UTF-16 text of {} bytes ends within a character", name, bytes.size()};
  std::string text;
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    std::uint32_t character = unit_at(bytes, at, little_endian);
    if (character >= 0xd800 && character < 0xe000) {
      const std::uint32_t low = at + 3 < bytes.size() ? unit_at(bytes, at + 2, little_endian) : 0;
      if (character >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
        throw Error{data_loss, "{}: byte {} is no UTF-16; save the file as UTF-8", name, at};
      character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
      at += 2;
    }
    append_utf8(text, character);
  }
  return text;
}

}  // namespace trireme::data
