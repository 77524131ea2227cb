// SPDX-License-Identifier: Apache-2.0
// libpng leaves by longjmp, so every call of it stands in a function that owns nothing.
#include "trireme/data/images/png_codec.h"

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstring>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

// Deflate cannot make more out of a byte.
constexpr std::int64_t kMaxExpansion = 1032;

struct Message {
  std::array<char, 128> text{};
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto& message = *static_cast<Message*>(png_get_error_ptr(png));
  std::strncpy(message.text.data(), text, message.text.size() - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

class PngReader {
 public:
  PngReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message_, on_error, on_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw Error{resource_exhausted, "{}: libpng cannot start", name};
    }
    png_set_read_fn(png_, this, read_bytes);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  ImageSize size() {
    run(&PngReader::read_header);
    const ImageSize size{png_get_image_height(png_, info_), png_get_image_width(png_, info_), png_get_channels(png_, info_)};
    if (size.height * size.width > kMaxImagePixels)
      throw Error{data_loss, "{}: a PNG of {} x {} pixels; at most {} are allowed", name_, size.height, size.width, kMaxImagePixels};
    return size;
  }

  Image image() {
    const ImageSize size = this->size();
    const std::int64_t bits = png_get_bit_depth(png_, info_) * size.height * size.width;  // at least so many in the file
    if (bits / 8 / kMaxExpansion > static_cast<std::int64_t>(bytes_.size()))
      throw Error{data_loss,    "{}: the header promises {} x {} pixels, which cannot be in {} bytes", name_, size.height, size.width,
                  bytes_.size()};
    Image image{size.height, size.width, size.channels, {}};
    image.pixels.resize(static_cast<std::size_t>(size.height * size.width * size.channels));
    pixels_ = image.pixels.data();
    row_bytes_ = static_cast<std::size_t>(size.width * size.channels);
    ensure(png_get_rowbytes(png_, info_) == row_bytes_, "a row of 8-bit pixels");
    run(&PngReader::read_pixels);
    return image;
  }

 private:
  static void read_bytes(png_structp png, png_bytep out, std::size_t count) {
    auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader.bytes_.size() - reader.at_) png_error(png, "the file ends too early");
    std::memcpy(out, reader.bytes_.data() + reader.at_, count);
    reader.at_ += count;
  }

  void run(void (PngReader::*step)()) {
    if (!leaves_normally(step))
      throw Error{data_loss, "{}: damaged PNG, at byte {} of {}: {}", name_, at_, bytes_.size(), message_.text.data()};
  }

  bool leaves_normally(void (PngReader::*step)()) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp): libpng has no other way
    (this->*step)();
    return true;
  }

  void read_header() {
    png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_user_limits(png_, 1U << 26, 1U << 26);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);  // colour profiles, texts: all that isn't pixels
    png_read_info(png_, info_);
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }

  void read_pixels() {
    const auto height = static_cast<std::size_t>(png_get_image_height(png_, info_));
    for (int pass = 0; pass < passes_; ++pass)
      for (std::size_t row = 0; row < height; ++row) png_read_row(png_, pixels_ + row * row_bytes_, nullptr);
    png_read_end(png_, nullptr);
  }

  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
  Message message_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  png_bytep pixels_ = nullptr;
  std::size_t row_bytes_ = 0;
};

}  // namespace

Image decode_png(std::string_view bytes, std::string_view name) { return PngReader(bytes, name).image(); }

ImageSize decode_png_size(std::string_view bytes, std::string_view name) { return PngReader(bytes, name).size(); }

std::string encode_png(const Image& image) {
  ensure(image.channels == 1 || image.channels == 3, "a PNG is written of one channel or three");
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0)
    throw Error{internal, "an image of {} x {} pixels cannot be written as PNG: {}", image.height, image.width, png.message};
  bytes.resize(size);
  return bytes;
}

}  // namespace trireme::data
