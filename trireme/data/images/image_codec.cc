// SPDX-License-Identifier: Apache-2.0
// Which codec a file needs, and JPEG through TurboJPEG.
#include "trireme/data/images/image_codec.h"

#include <turbojpeg.h>

#include <array>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/data/images/png_codec.h"

namespace trireme::data {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n"sv;
constexpr std::string_view kJpegSignature = "\xff\xd8\xff"sv;

// The emptiest baseline image spends a bit on each block of 64 pixels; the rest is for arithmetic coding.
constexpr std::int64_t kMaxPixelsPerByte = 4096;

struct CloseHandle {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, CloseHandle>;

Handle checked(tjhandle handle) {
  if (handle == nullptr) throw Error{resource_exhausted, "TurboJPEG cannot start: {}", tjGetErrorStr2(nullptr)};
  return Handle(handle);
}

const auto* unsigned_bytes(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

struct JpegHeader {
  int height = 0, width = 0, subsampling = 0, colour_space = 0;

  bool grey() const { return colour_space == TJCS_GRAY; }
  bool inks() const { return colour_space == TJCS_CMYK || colour_space == TJCS_YCCK; }
};

[[noreturn]] void damaged_jpeg(tjhandle handle, std::string_view bytes, std::string_view name) {
  throw Error{data_loss, "{}: damaged JPEG of {} bytes: {}", name, bytes.size(), tjGetErrorStr2(handle)};
}

JpegHeader jpeg_header(tjhandle handle, std::string_view bytes, std::string_view name) {
  JpegHeader header;
  if (tjDecompressHeader3(handle, unsigned_bytes(bytes), bytes.size(), &header.width, &header.height, &header.subsampling,
                          &header.colour_space) != 0)
    damaged_jpeg(handle, bytes, name);
  // No fault to TurboJPEG: such a file could hold tables for others.
  if (header.height < 1 || header.width < 1)
    throw Error{data_loss, "{}: damaged JPEG: {} bytes without a frame header", name, bytes.size()};
  if (std::int64_t{header.height} * header.width > kMaxImagePixels)
    throw Error{data_loss, "{}: a JPEG of {} x {} pixels; at most {} are allowed", name, header.height, header.width, kMaxImagePixels};
  return header;
}

std::vector<std::uint8_t> jpeg_pixels(tjhandle handle, std::string_view bytes, std::string_view name, const JpegHeader& header) {
  const int format = header.grey() ? TJPF_GRAY : header.inks() ? TJPF_CMYK : TJPF_RGB;
  const auto pixel_bytes = static_cast<std::size_t>(tjPixelSize[format]);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(header.height) * static_cast<std::size_t>(header.width) * pixel_bytes);
  // A warning is -1 too: what TurboJPEG merely warns of is lost or invented pixels.
  if (tjDecompress2(handle, unsigned_bytes(bytes), bytes.size(), pixels.data(), header.width, 0, header.height, format,
                    TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS) != 0)
    damaged_jpeg(handle, bytes, name);
  return pixels;
}

// Files store the light that passes each ink, so black darkens by multiplication.
std::vector<std::uint8_t> colours_of_inks(const std::vector<std::uint8_t>& inks) {
  std::vector<std::uint8_t> colours(inks.size() / 4 * 3);
  for (std::size_t i = 0; i < inks.size() / 4; ++i)
    for (std::size_t c = 0; c < 3; ++c) colours[i * 3 + c] = static_cast<std::uint8_t>((inks[i * 4 + c] * inks[i * 4 + 3] + 127) / 255);
  return colours;
}

Image decode_jpeg(std::string_view bytes, std::string_view name) {
  const Handle handle = checked(tjInitDecompress());
  const JpegHeader header = jpeg_header(handle.get(), bytes, name);
  if (std::int64_t{header.height} * header.width / kMaxPixelsPerByte > static_cast<std::int64_t>(bytes.size()))
    throw Error{data_loss,   "{}: the header promises {} x {} pixels, which cannot be in {} bytes", name, header.height, header.width,
                bytes.size()};
  Image image{header.height, header.width, header.grey() ? 1 : 3, jpeg_pixels(handle.get(), bytes, name, header)};
  if (header.inks()) image.pixels = colours_of_inks(image.pixels);
  return image;
}

ImageSize decode_jpeg_size(std::string_view bytes, std::string_view name) {
  const JpegHeader header = jpeg_header(checked(tjInitDecompress()).get(), bytes, name);
  return {header.height, header.width, header.grey() ? 1 : 3};
}

[[noreturn]] void unknown_kind(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) throw Error{data_loss, "{}: the file is empty; expected a PNG or JPEG image", name};
  std::string found;
  for (const char c : bytes.substr(0, 8)) found += fmt::format("{}{:02x}", found.empty() ? "" : " ", static_cast<unsigned char>(c));
  throw Error{data_loss, "{}: at byte 0 expected the signature of PNG (89 50 4e 47 ...) or JPEG (ff d8 ff), found {}", name, found};
}

}  // namespace

ImageKind image_kind(std::string_view bytes) {
  if (bytes.starts_with(kPngSignature)) return ImageKind::png;
  return bytes.starts_with(kJpegSignature) ? ImageKind::jpeg : ImageKind::unknown;
}

Image decode_image(std::string_view bytes, std::string_view name) {
  switch (image_kind(bytes)) {
    case ImageKind::png:
      return decode_png(bytes, name);
    case ImageKind::jpeg:
      return decode_jpeg(bytes, name);
    default:
      unknown_kind(bytes, name);
  }
}

ImageSize decode_image_size(std::string_view bytes, std::string_view name) {
  switch (image_kind(bytes)) {
    case ImageKind::png:
      return decode_png_size(bytes, name);
    case ImageKind::jpeg:
      return decode_jpeg_size(bytes, name);
    default:
      unknown_kind(bytes, name);
  }
}

std::string encode_jpeg(const Image& image, int quality) {
  ensure(image.channels == 1 || image.channels == 3, "a JPEG is written of one channel or three");
  const Handle handle = checked(tjInitCompress());
  const bool grey = image.channels == 1;
  const int sampling = grey ? TJSAMP_GRAY : TJSAMP_444;
  const auto width = static_cast<int>(image.width), height = static_cast<int>(image.height);
  std::string bytes(tjBufSize(width, height, sampling), '\0');
  auto* out = reinterpret_cast<unsigned char*>(bytes.data());
  unsigned long size = bytes.size();  // NOLINT(google-runtime-int): TurboJPEG's type
  if (tjCompress2(handle.get(), image.pixels.data(), width, 0, height, grey ? TJPF_GRAY : TJPF_RGB, &out, &size, sampling, quality,
                  TJFLAG_NOREALLOC) != 0)
    throw Error{internal, "an image of {} x {} pixels cannot be written as JPEG: {}", height, width, tjGetErrorStr2(handle.get())};
  bytes.resize(size);
  return bytes;
}

}  // namespace trireme::data
