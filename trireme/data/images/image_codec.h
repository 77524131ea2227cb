// SPDX-License-Identifier: Apache-2.0
// Images out of PNG and JPEG files and back, and in another size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;  // interleaved, row-major
};

struct ImageSize {
  std::int64_t height = 0, width = 0, channels = 0;
};

// A larger image is refused before anything is allocated for it.
inline constexpr std::int64_t kMaxImagePixels = std::int64_t{1} << 26;

enum class ImageKind { png, jpeg, unknown };
ImageKind image_kind(std::string_view bytes);

// PNG or JPEG, by content. Grey stays one channel, colour has three; alpha is dropped, a palette expanded, 16 bits become 8.
// Whatever is damaged or suspicious is data_loss, naming `name`.
Image decode_image(std::string_view bytes, std::string_view name);

// What decode_image would make, from the header alone; `bytes` may end after it.
ImageSize decode_image_size(std::string_view bytes, std::string_view name);

// One channel or three.
std::string encode_png(const Image& image);
std::string encode_jpeg(const Image& image, int quality);

// An axis that shrinks is averaged over area, one that grows is interpolated.
Image resized(const Image& image, std::int64_t height, std::int64_t width);
// Grey from colour (ITU-R BT.601, as JPEG has it), or three equal channels from grey; 1 or 3.
Image with_channels(Image image, std::int64_t channels);
// The middle of an image; height and width are at most its own.
Image centre_cropped(const Image& image, std::int64_t height, std::int64_t width);

}  // namespace trireme::data
