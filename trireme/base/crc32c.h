// SPDX-License-Identifier: Apache-2.0
// The CRC of Castagnoli, and the framing of TFRecord files, which TensorBoard's event files share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trireme {

std::uint32_t crc32c(std::string_view bytes);

// As TFRecord stores it: rotated and shifted, so that the CRC of data that hold a CRC is no trivial one.
std::uint32_t masked_crc32c(std::string_view bytes);

// A record as it stands in a TFRecord file: u64 length, its masked CRC, the payload, its masked CRC; all little-endian.
std::string framed_record(std::string_view payload);

inline constexpr std::size_t kRecordHeader = 12;  // bytes before the payload
inline constexpr std::size_t kRecordFooter = 4;   // bytes after it

}  // namespace trireme
