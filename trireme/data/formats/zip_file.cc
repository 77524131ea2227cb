// SPDX-License-Identifier: Apache-2.0
// The parts of PKWARE's APPNOTE that numpy and common packers use: directory, zip64, stored and deflated members.
#include "trireme/data/formats/zip_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view kLocal = "PK\x03\x04"sv;
constexpr std::string_view kEntry = "PK\x01\x02"sv;
constexpr std::string_view kEnd = "PK\x05\x06"sv;
constexpr std::string_view kEnd64 = "PK\x06\x06"sv;
constexpr std::string_view kEnd64Place = "PK\x06\x07"sv;

constexpr std::uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kEnd64PlaceBytes = 20;
constexpr std::uint64_t kMaxComment = 65535;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number stands in the zip64 field
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint64_t kMaxMembers = 1 << 20;
constexpr std::uint64_t kMaxExpansion = 1032;  // of deflate

std::uint64_t number_at(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return number;
}

// Replaces numbers that say so by those of the zip64 field, where they stand in this order.
bool take_zip64(std::string_view extra, ZipFile::Member& member) {
  while (extra.size() >= 4) {
    const std::uint64_t kind = number_at(extra, 0, 2), size = number_at(extra, 2, 2);
    if (size > extra.size() - 4) return false;
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (kind != kZip64Field) continue;
    for (std::uint64_t* number : {&member.size, &member.packed, &member.header}) {
      if (*number != kIn64) continue;
      if (field.size() < 8) return false;
      *number = number_at(field, 0, 8);
      field.remove_prefix(8);
    }
  }
  return true;
}

class Inflater {
 public:
  explicit Inflater(std::string_view place) : place_(place) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw Error{resource_exhausted, "zlib cannot start: out of memory"};
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends what `packed` makes, at most up to `limit` bytes in all; true at the end of the data.
  bool add(std::string_view packed, std::uint64_t limit, std::vector<std::byte>& out) {
    // zlib doesn't write into its input, it is only not const-correct.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    for (;;) {
      std::array<std::byte, 1 << 16> piece{};
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<uInt>(piece.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        throw Error{data_loss, "{}: damaged deflate data: {}", place_, stream_.msg != nullptr ? stream_.msg : "unknown fault"};
      const std::size_t made = piece.size() - stream_.avail_out;
      out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(made));
      if (out.size() > limit) throw Error{data_loss, "{}: expected {} bytes, found more", place_, limit};
      if (result == Z_STREAM_END) return true;
      if (stream_.avail_in == 0 && stream_.avail_out > 0) return false;
    }
  }

 private:
  std::string_view place_;
  z_stream stream_{};
};

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& path) : file_(path) { read_directory(find_directory()); }

std::string ZipFile::bytes_at(std::uint64_t offset, std::uint64_t count, std::string_view what) const {
  const std::uint64_t found = offset < file_.size() ? file_.size() - offset : 0;
  if (found < count)
    throw Error{data_loss, "{}: expected {} bytes for {} at byte {}, found {}; the file is cut off", name(), count, what, offset, found};
  std::string bytes(static_cast<std::size_t>(count), '\0');
  if (file_.read_at(offset, std::as_writable_bytes(std::span(bytes))) < count)
    throw Error{data_loss, "{}: the file has become shorter since it was opened", name()};
  return bytes;
}

ZipFile::Directory ZipFile::find_directory() const {
  const std::uint64_t tail = std::min(file_.size(), kEndBytes + kMaxComment);
  const std::uint64_t tail_begin = file_.size() - tail;
  const std::string bytes = bytes_at(tail_begin, tail, "the end of the archive");
  const std::size_t at = bytes.rfind(kEnd);
  if (at == std::string::npos || bytes.size() - at < kEndBytes)
    throw Error{data_loss,
                "{}: expected the directory of a zip archive at the end, found none in {} bytes; the file is cut off, or no .npz", name(),
                file_.size()};
  const std::string_view end = std::string_view(bytes).substr(at);
  Directory directory{.begin = number_at(end, 16, 4), .members = number_at(end, 10, 2)};
  directory.end = directory.begin + number_at(end, 12, 4);
  const std::uint64_t end_at = tail_begin + at;
  if (directory.begin == kIn64 || directory.members == 0xffff || number_at(end, 12, 4) == kIn64) {
    if (end_at < kEnd64PlaceBytes) throw Error{data_loss, "{}: expected the place of a zip64 directory before byte {}", name(), end_at};
    const std::string place = bytes_at(end_at - kEnd64PlaceBytes, kEnd64PlaceBytes, "the place of the directory");
    const std::string end64 = place.starts_with(kEnd64Place) ? bytes_at(number_at(place, 8, 8), kEnd64Bytes, "the zip64 directory") : "";
    if (!end64.starts_with(kEnd64)) throw Error{data_loss, "{}: expected a zip64 directory, found none; damaged", name()};
    directory = {
        .begin = number_at(end64, 48, 8), .end = number_at(end64, 48, 8) + number_at(end64, 40, 8), .members = number_at(end64, 32, 8)};
  }
  if (directory.begin > directory.end || directory.end > end_at || directory.members > kMaxMembers)
    throw Error{data_loss,       "{}: the directory of {} members from byte {} to {} cannot be in this file; damaged",
                name(),          directory.members,
                directory.begin, directory.end};
  return directory;
}

void ZipFile::read_directory(const Directory& directory) {
  const std::string bytes = bytes_at(directory.begin, directory.end - directory.begin, "the directory");
  std::string_view rest = bytes;
  while (members_.size() < directory.members) {
    const std::uint64_t at = directory.begin + (bytes.size() - rest.size());
    if (rest.size() < kEntryBytes || !rest.starts_with(kEntry))
      throw Error{data_loss,       "{}: expected {} members in the directory, found {} until byte {}; damaged",
                  name(),          directory.members,
                  members_.size(), at};
    const std::uint64_t name_size = number_at(rest, 28, 2), extra = number_at(rest, 30, 2), comment = number_at(rest, 32, 2);
    if (rest.size() - kEntryBytes < name_size + extra + comment)
      throw Error{data_loss, "{}: the directory entry at byte {} is longer than the directory; damaged", name(), at};
    Member member{.name = std::string(rest.substr(kEntryBytes, name_size)),
                  .method = static_cast<std::uint16_t>(number_at(rest, 10, 2)),
                  .crc = static_cast<std::uint32_t>(number_at(rest, 16, 4)),
                  .packed = number_at(rest, 20, 4),
                  .size = number_at(rest, 24, 4),
                  .header = number_at(rest, 42, 4)};
    if ((number_at(rest, 8, 2) & 1) != 0) throw Error{unimplemented, "{}: the member '{}' is encrypted", name(), member.name};
    if (!take_zip64(rest.substr(kEntryBytes + name_size, extra), member))
      throw Error{data_loss, "{}: the directory entry at byte {} has a damaged zip64 field", name(), at};
    rest.remove_prefix(kEntryBytes + name_size + extra + comment);
    members_.push_back(std::move(member));
  }
}

// Where its bytes begin: the local header's name and extra field may have other lengths than the directory's.
std::uint64_t ZipFile::data_of(const Member& member) const {
  const std::string header = bytes_at(member.header, kLocalBytes, fmt::format("the header of '{}'", member.name));
  if (!header.starts_with(kLocal))
    throw Error{data_loss, "{}: expected the header of '{}' at byte {}, found other bytes; damaged", name(), member.name, member.header};
  return member.header + kLocalBytes + number_at(header, 26, 2) + number_at(header, 28, 2);
}

std::vector<std::byte> ZipFile::read(const Member& member) const {
  const std::string place = fmt::format("{}: member '{}'", name(), member.name);
  if (member.method != 0 && member.method != 8)
    throw Error{unimplemented, "{}: compression method {}; only stored and deflated members can be read", place, member.method};
  const std::uint64_t begin = data_of(member);
  const bool fits = begin <= file_.size() && member.packed <= file_.size() - begin;
  if (!fits || (member.method == 0 && member.packed != member.size) || member.size / kMaxExpansion > member.packed)
    throw Error{
        data_loss,   "{}: expected {} bytes ({} packed) at byte {}, but the file has {}; damaged", place, member.size, member.packed, begin,
        file_.size()};
  std::vector<std::byte> out;
  if (member.method == 0) {
    out.resize(static_cast<std::size_t>(member.size));
    if (file_.read_at(begin, out) < out.size()) throw Error{data_loss, "{}: the file has become shorter since it was opened", place};
  } else {
    constexpr std::uint64_t kPiece = 1 << 20;
    Inflater inflater(place);
    bool ended = false;
    for (std::uint64_t at = 0; at < member.packed && !ended; at += kPiece)
      ended = inflater.add(bytes_at(begin + at, std::min(kPiece, member.packed - at), place), member.size, out);
    if (!ended || out.size() != member.size)
      throw Error{data_loss, "{}: expected {} bytes, found {}; damaged or cut off", place, member.size, out.size()};
  }
  if (const std::uint32_t found = checksum(out); found != member.crc)
    throw Error{data_loss, "{}: expected the CRC {:08x}, found {:08x}; damaged", place, member.crc, found};
  return out;
}

namespace {

std::string deflated_bytes(const std::string& plain) {
  z_stream stream{};
  ensure(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
  std::string out(deflateBound(&stream, static_cast<uLong>(plain.size())), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  ensure(result == Z_STREAM_END, "the bound is enough");
  return out;
}

std::string little_endian(std::uint64_t number, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
  return out;
}

}  // namespace

std::string zip_archive(const std::vector<std::pair<std::string, std::string>>& members, bool deflated) {
  std::string archive, directory;
  for (const auto& [name, content] : members) {
    const std::string packed = deflated ? deflated_bytes(content) : content;
    const std::string shared = little_endian(20, 2) + little_endian(0, 2) + little_endian(deflated ? 8 : 0, 2) + little_endian(0, 4) +
                               little_endian(checksum(std::as_bytes(std::span(content))), 4) + little_endian(packed.size(), 4) +
                               little_endian(content.size(), 4) + little_endian(name.size(), 2) + little_endian(0, 2);
    directory.append(kEntry).append(little_endian(20, 2)).append(shared).append(10, '\0');
    directory.append(little_endian(archive.size(), 4)).append(name);
    archive.append(kLocal).append(shared).append(name).append(packed);
  }
  return archive + directory + std::string(kEnd) + little_endian(0, 4) + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(directory.size(), 4) + little_endian(archive.size(), 4) + little_endian(0, 2);
}

}  // namespace trireme::data
