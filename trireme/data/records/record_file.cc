// SPDX-License-Identifier: Apache-2.0
// Finds the records of a TFRecord file and verifies length and data checksums.
#include "trireme/data/records/record_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "trireme/base/crc32c.h"
#include "trireme/base/error.h"
#include "trireme/data/formats/byte_stream.h"

namespace trireme::data {
namespace {

static_assert(std::endian::native == std::endian::little, "TFRecord files are little-endian");

// Protobuf counts the bytes of a message with an int.
constexpr std::uint64_t kLongest = std::numeric_limits<std::int32_t>::max();

template <class Number>
Number number_at(std::string_view bytes, std::size_t offset) {
  Number number = 0;
  std::memcpy(&number, bytes.substr(offset, sizeof number).data(), sizeof number);
  return number;
}

bool length_is_whole(std::string_view header) {
  return header.size() == kRecordHeader && masked_crc32c(header.substr(0, 8)) == number_at<std::uint32_t>(header, 8);
}

}  // namespace

RecordFile::RecordFile(const std::filesystem::path& path, std::optional<Compression> compression) : file_(path) {
  const Compression kind = compression.value_or(Compression::none);
  const Compression found = compression ? kind : record_compression(file_);
  if (found != Compression::none) plain_ = ByteStream(path, found).read_rest();
}

RecordPlace RecordFile::place_at(std::uint64_t begin) const {
  std::string buffer;
  const std::uint64_t rest = size() - begin;
  if (rest < kRecordHeader + kRecordFooter)
    throw Error{data_loss, "{}: expected a record of at least {} bytes at byte {}, found {}; the file is cut off",
                name(),    kRecordHeader + kRecordFooter,
                begin,     rest};
  const std::string_view header = bytes_at(begin, kRecordHeader, buffer);
  const auto length = number_at<std::uint64_t>(header, 0);
  if (!length_is_whole(header))
    throw Error{data_loss, "{}: expected the CRC {:08x} of the record length at byte {}, found {:08x}; damaged, or no TFRecord file",
                name(),    masked_crc32c(header.substr(0, 8)),
                begin + 8, number_at<std::uint32_t>(header, 8)};
  if (length > rest - kRecordHeader - kRecordFooter || length > kLongest)
    throw Error{data_loss,
                "{}: expected a record of {} bytes at byte {}, found {}; the file is cut off",
                name(),
                length,
                begin + kRecordHeader,
                rest - kRecordHeader - kRecordFooter};
  return {.offset = begin + kRecordHeader, .length = length};
}

std::uint64_t RecordFile::end_of(const RecordPlace& place) { return place.offset + place.length + kRecordFooter; }

std::optional<std::string_view> RecordFile::payload(const RecordPlace& place, DataCheck check, std::string& buffer) const {
  const auto length = static_cast<std::size_t>(place.length);
  const std::string_view bytes = bytes_at(place.offset, length + kRecordFooter, buffer);
  const std::string_view content = bytes.substr(0, length);
  if (check == DataCheck::checked && masked_crc32c(content) != number_at<std::uint32_t>(bytes, length)) return std::nullopt;
  return content;
}

std::string_view RecordFile::bytes_at(std::uint64_t offset, std::size_t count, std::string& buffer) const {
  if (plain_) return as_text(std::span(*plain_).subspan(static_cast<std::size_t>(offset), count));
  buffer.resize(count);
  if (file_.read_at(offset, std::as_writable_bytes(std::span(buffer))) < count)
    throw Error{data_loss, "{}: expected {} bytes at byte {}, but the file has become shorter since it was opened", name(), count, offset};
  return buffer;
}

bool begins_with_length(const InputFile& file) {
  std::array<char, kRecordHeader> bytes{};
  const std::size_t count = file.read_at(0, std::as_writable_bytes(std::span(bytes)));
  return length_is_whole({bytes.data(), count});
}

Compression record_compression(const InputFile& file) {
  std::array<char, kRecordHeader> bytes{};
  const std::size_t count = file.read_at(0, std::as_writable_bytes(std::span(bytes)));
  const std::string_view opening(bytes.data(), count);
  if (length_is_whole(opening)) return Compression::none;
  const Compression marked = marked_compression(as_bytes(opening));
  if (marked == Compression::gzip) return marked;
  // RFC 1950: method 8, and the first two bytes as a big-endian number are a multiple of 31.
  const int first = count >= 2 ? static_cast<unsigned char>(bytes[0]) : 0, second = static_cast<unsigned char>(bytes[1]);
  return (first & 0x0f) == 8 && (first >> 4) <= 7 && (first * 256 + second) % 31 == 0 ? Compression::zlib : Compression::none;
}

}  // namespace trireme::data
