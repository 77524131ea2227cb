// SPDX-License-Identifier: Apache-2.0
// For tests: photographs that note how the camera was held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trireme::data {

// A TIFF directory of two entries, the second the orientation; the byte order is little endian as most cameras have it.
inline std::string exif_tiff(char orientation, bool little_endian = true) {
  const auto two = [&](char low) { return little_endian ? std::string{low, '\0'} : std::string{'\0', low}; };
  const auto four = [&](char low) { return little_endian ? std::string{low, 0, 0, 0} : std::string{0, 0, 0, low}; };
  const std::string width = std::string(little_endian ? "\x00\x01" : "\x01\x00", 2) + two(4) + four(1) + four(99);
  const std::string turn = std::string(little_endian ? "\x12\x01" : "\x01\x12", 2) + two(3) + four(1) + two(orientation) + two(0);
  return (little_endian ? "II" : "MM") + two(42) + four(8) + two(2) + width + turn + four(0);
}

inline std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

// The checksum of PNG chunks, bit by bit.
inline std::uint32_t png_checksum(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// `picture`, a PNG or a JPEG, with `tiff` as its EXIF data.
inline std::string with_exif(const std::string& picture, const std::string& tiff) {
  if (picture.starts_with("\x89PNG")) {
    constexpr std::size_t kHeaderEnd = 33;
    const std::string chunk = "eXIf" + tiff;
    return picture.substr(0, kHeaderEnd) + big_endian(static_cast<std::uint32_t>(tiff.size())) + chunk + big_endian(png_checksum(chunk)) +
           picture.substr(kHeaderEnd);
  }
  const std::string content = std::string("Exif\0\0", 6) + tiff;
  return picture.substr(0, 2) + "\xff\xe1" + big_endian(static_cast<std::uint32_t>(content.size() + 2)).substr(2) + content +
         picture.substr(2);
}

}  // namespace trireme::data
