// SPDX-License-Identifier: Apache-2.0
// The header is at the beginning of an image file, the mark of its end usually at its end; only if it isn't, the rest is read.
#include "trireme/data/images/image_file_check.h"

#include <algorithm>
#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/images/orientation.h"

namespace trireme::data {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view kPngEnd = "\0\0\0\0IEND\xae\x42\x60\x82"sv;
constexpr std::string_view kJpegEnd = "\xff\xd9"sv;

// Headers fit, but for those with large thumbnails or colour profiles; for these the whole file is read.
constexpr std::size_t kHeadBytes = 32768;
constexpr std::size_t kTailBytes = 512;

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
  return text;
}

std::size_t length_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::size_t length = 0;
  for (const char c : bytes.substr(at, size)) length = length << 8 | static_cast<unsigned char>(c);
  return length;
}

// Whether its last chunk is there, whatever follows it.
bool png_ends(std::string_view bytes) {
  constexpr std::size_t kSignature = 8, kFrame = 12;  // of a chunk: length, name, checksum
  for (std::size_t at = kSignature; at + kFrame <= bytes.size();) {
    if (bytes.substr(at, kFrame) == kPngEnd) return true;
    const std::size_t length = length_at(bytes, at, 4);
    if (length > bytes.size() - at - kFrame) return false;
    at += kFrame + length;
  }
  return false;
}

// Where the next marker stands: in compressed data ff 00 is a value, and restart marks have no length.
std::size_t next_marker(std::string_view bytes, std::size_t at) {
  for (at = bytes.find('\xff', at); at != std::string_view::npos && at + 1 < bytes.size(); at = bytes.find('\xff', at + 1)) {
    const auto code = static_cast<unsigned char>(bytes[at + 1]);
    const bool is_restart = code >= 0xd0 && code <= 0xd7;
    if (code != 0 && code != 0xff && !is_restart) return at;
  }
  return std::string_view::npos;
}

// Whether its end mark is there, whatever follows it. A thumbnail inside a segment has an end mark, too.
bool jpeg_ends(std::string_view bytes) {
  for (std::size_t at = next_marker(bytes, 2); at != std::string_view::npos;) {
    if (bytes.substr(at, 2) == kJpegEnd) return true;
    if (bytes.size() - at < 4) return false;
    at = next_marker(bytes, std::min(at + 2 + length_at(bytes, at + 2, 2), bytes.size()));
  }
  return false;
}

class Ends {
 public:
  explicit Ends(const std::filesystem::path& file) : name_(file.string()), in_(file, std::ios::binary | std::ios::ate) {
    if (!in_) throw Error{not_found, "{}: the file cannot be opened", name_};
    size_ = static_cast<std::size_t>(std::max<std::streamoff>(in_.tellg(), 0));
  }

  std::string read(std::size_t offset, std::size_t count) {
    std::string bytes(std::min(count, size_ - offset), '\0');
    in_.seekg(static_cast<std::streamoff>(offset));
    if (!in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      throw SystemError{unavailable, "{}: cannot read {} bytes at byte {}", name_, bytes.size(), offset};
    return bytes;
  }
  std::string tail(std::size_t count) { return count < size_ ? read(size_ - count, count) : read(0, size_); }

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }

 private:
  std::string name_;
  std::ifstream in_;
  std::size_t size_ = 0;
};

// Enough of the file for its size and orientation.
std::string read_header(Ends& file, bool orientation) {
  std::string head = file.read(0, kHeadBytes);
  if (head.size() == file.size()) return head;
  try {
    decode_image_size(head, file.name());
    if (!orientation || find_orientation(head)) return head;
  } catch (const Error&) {  // what is looked for may stand behind the head that was read; the caller decodes it again
  }
  return file.read(0, file.size());
}

// Some writers fill up with zeros; neither mark ends with one.
std::string_view without_zeros(std::string_view bytes) { return bytes.substr(0, bytes.find_last_not_of('\0') + 1); }

[[noreturn]] void ends_too_early(Ends& file, ImageKind kind) {
  const std::string bytes = file.read(0, file.size());
  const std::string_view content = without_zeros(bytes);
  const std::string_view mark = kind == ImageKind::png ? kPngEnd : kJpegEnd;
  const std::string_view found = content.substr(content.size() - std::min(mark.size(), content.size()));
  throw Error{data_loss,         "{}: the image ends too early: at byte {} expected its end mark {}, found {}",
              file.name(),       content.size() - found.size(),
              hexadecimal(mark), hexadecimal(found)};
}

void check_end(Ends& file, ImageKind kind) {
  const std::string_view mark = kind == ImageKind::png ? kPngEnd : kJpegEnd;
  if (without_zeros(file.tail(kTailBytes)).ends_with(mark)) return;
  // Other bytes may follow: cameras and messengers append thumbnails and notes of their own.
  const std::string bytes = file.read(0, file.size());
  if (!(kind == ImageKind::png ? png_ends(bytes) : jpeg_ends(bytes))) ends_too_early(file, kind);
}

}  // namespace

ImageSize check_image_file(const std::filesystem::path& path, const ImageCheck& check) {
  Ends file(path);
  const std::string head = read_header(file, check.orientation);
  ImageSize size = decode_image_size(head, file.name());
  check_end(file, image_kind(head));
  if (check.pixels) decode_image(read_file(path), file.name());
  return check.orientation ? upright(size, find_orientation(head).value_or(Orientation::upright)) : size;
}

}  // namespace trireme::data
