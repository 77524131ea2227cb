// SPDX-License-Identifier: Apache-2.0
// Walks over the segments of a JPEG or the chunks of a PNG to the EXIF data, which are a small TIFF file.
#include "trireme/data/images/orientation.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kTiffEntry = 12;
constexpr std::size_t kMaxEntries = 1000;

std::size_t number_at(std::string_view bytes, std::size_t at, std::size_t size, bool little_endian = false) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + (little_endian ? size - 1 - i : i)]);
    number = number << 8 | byte;
  }
  return number;
}

// A fault in it is no fault of the picture.
Orientation orientation_in_tiff(std::string_view tiff) {
  const bool little_endian = tiff.starts_with("II*\0"sv);
  if (tiff.size() < 8 || (!little_endian && !tiff.starts_with("MM\0*"sv))) return Orientation::upright;
  const std::size_t directory = number_at(tiff, 4, 4, little_endian);
  if (directory > tiff.size() || tiff.size() - directory < 2) return Orientation::upright;
  const std::size_t entries = std::min(number_at(tiff, directory, 2, little_endian), kMaxEntries);
  for (std::size_t at = directory + 2; at + kTiffEntry <= tiff.size() && at < directory + 2 + entries * kTiffEntry; at += kTiffEntry) {
    constexpr std::size_t kOrientationTag = 0x0112, kShort = 3;
    if (number_at(tiff, at, 2, little_endian) != kOrientationTag || number_at(tiff, at + 2, 2, little_endian) != kShort) continue;
    const std::size_t number = number_at(tiff, at + 8, 2, little_endian);
    return number >= 1 && number <= 8 ? static_cast<Orientation>(number) : Orientation::upright;
  }
  return Orientation::upright;
}

bool is_frame_or_scan(unsigned char marker) {
  constexpr unsigned char kTables = 0xc4, kExtension = 0xc8, kArithmetic = 0xcc, kScan = 0xda, kEnd = 0xd9;
  const bool frame = marker >= 0xc0 && marker <= 0xcf && marker != kTables && marker != kExtension && marker != kArithmetic;
  return frame || marker == kScan || marker == kEnd;
}

std::optional<Orientation> find_in_jpeg(std::string_view bytes) {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  std::size_t at = 2;
  while (at + 4 <= bytes.size()) {
    if (bytes[at] != '\xff') return Orientation::upright;
    const auto marker = static_cast<unsigned char>(bytes[at + 1]);
    if (marker == 0xff) {  // filling
      ++at;
      continue;
    }
    if (is_frame_or_scan(marker)) return Orientation::upright;
    const std::size_t length = number_at(bytes, at + 2, 2);
    if (length < 2) return Orientation::upright;
    if (at + 2 + length > bytes.size()) return std::nullopt;
    const std::string_view content = bytes.substr(at + 4, length - 2);
    if (marker == 0xe1 && content.starts_with(kExif)) return orientation_in_tiff(content.substr(kExif.size()));
    at += 2 + length;
  }
  return std::nullopt;
}

std::optional<Orientation> find_in_png(std::string_view bytes) {
  constexpr std::size_t kSignature = 8, kFrame = 12;  // of a chunk: length, name, checksum
  std::size_t at = kSignature;
  while (at + kFrame <= bytes.size()) {
    const std::size_t length = number_at(bytes, at, 4);
    const std::string_view name = bytes.substr(at + 4, 4);
    if (name == "IDAT" || name == "IEND") return Orientation::upright;
    if (length > bytes.size() - at - kFrame) return std::nullopt;
    if (name == "eXIf") return orientation_in_tiff(bytes.substr(at + 8, length));
    at += kFrame + length;
  }
  return std::nullopt;
}

bool swaps_axes(Orientation orientation) { return orientation >= Orientation::transpose; }

// Pixel (y, x) of the upright picture is that of the stored one at start + y * down + x * right.
struct Walk {
  std::int64_t start = 0, down = 0, right = 0;
};

Walk walk_over(const Image& image, Orientation orientation) {
  const std::int64_t w = image.width, last_row = (image.height - 1) * w, last = last_row + w - 1;
  switch (orientation) {
    case Orientation::upright:
      return {0, w, 1};
    case Orientation::mirror:
      return {w - 1, w, -1};
    case Orientation::half_turn:
      return {last, -w, -1};
    case Orientation::flip:
      return {last_row, -w, 1};
    case Orientation::transpose:
      return {0, 1, w};
    case Orientation::quarter_turn:
      return {last_row, 1, -w};
    case Orientation::transverse:
      return {last, -1, -w};
    case Orientation::three_quarter_turn:
      return {w - 1, -1, w};
  }
  ensure(false, "EXIF has eight orientations");
  return {};
}

}  // namespace

std::optional<Orientation> find_orientation(std::string_view bytes) {
  switch (image_kind(bytes)) {
    case ImageKind::jpeg:
      return find_in_jpeg(bytes);
    case ImageKind::png:
      return find_in_png(bytes);
    default:
      return Orientation::upright;
  }
}

Image upright(Image image, Orientation orientation) {
  if (orientation == Orientation::upright) return image;
  const ImageSize size = upright(ImageSize{image.height, image.width, image.channels}, orientation);
  const Walk walk = walk_over(image, orientation);
  Image out{size.height, size.width, size.channels, {}};
  out.pixels.reserve(image.pixels.size());
  for (std::int64_t y = 0; y < out.height; ++y)
    for (std::int64_t x = 0; x < out.width; ++x) {
      const auto from = image.pixels.begin() + (walk.start + y * walk.down + x * walk.right) * image.channels;
      out.pixels.insert(out.pixels.end(), from, from + image.channels);
    }
  return out;
}

ImageSize upright(ImageSize size, Orientation orientation) {
  if (swaps_axes(orientation)) std::swap(size.height, size.width);
  return size;
}

}  // namespace trireme::data
