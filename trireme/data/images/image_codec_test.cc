// SPDX-License-Identifier: Apache-2.0
// Images survive both codecs, damaged ones are refused, and resizing keeps what it must.
#include "trireme/data/images/image_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <cmath>
#include <numeric>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Image smooth_image(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Image image{height, width, channels, {}};
  for (std::int64_t i = 0; i < height * width * channels; ++i) {
    const std::int64_t y = i / channels / width, x = i / channels % width, c = i % channels;
    image.pixels.push_back(static_cast<std::uint8_t>(60 + 3 * y + 2 * x + 20 * c));
  }
  return image;
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(a.pixels[i] - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

// A PNG of any libpng format, e.g. one with alpha, 16 bits or a palette.
std::string png_of(png_uint_32 format, const void* pixels, const void* palette = nullptr) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = 2;
  png.height = 1;
  png.format = format;
  png.colormap_entries = palette == nullptr ? 0 : 2;
  std::string bytes(10000, '\0');
  png_alloc_size_t size = bytes.size();
  EXPECT_NE(png_image_write_to_memory(&png, bytes.data(), &size, 0, pixels, 0, palette), 0) << png.message;
  return bytes.substr(0, size);
}

TEST(ImageCodec, PngKeepsEveryPixel) {
  for (const std::int64_t channels : {1, 3}) {
    const Image image = smooth_image(9, 13, channels);
    const Image back = decode_image(encode_png(image), "x.png");
    EXPECT_EQ(back.height, 9);
    EXPECT_EQ(back.width, 13);
    EXPECT_EQ(back.channels, channels);
    EXPECT_EQ(back.pixels, image.pixels);
  }
}

TEST(ImageCodec, JpegKeepsTheLook) {
  for (const std::int64_t channels : {1, 3}) {
    const Image image = smooth_image(17, 23, channels);
    const Image back = decode_image(encode_jpeg(image, 95), "x.jpg");
    EXPECT_EQ(back.height, 17);
    EXPECT_EQ(back.width, 23);
    EXPECT_EQ(back.channels, channels);
    ASSERT_EQ(back.pixels.size(), image.pixels.size());
    EXPECT_LT(mean_difference(back, image), 2.0);
  }
}

TEST(ImageCodec, AlphaIsDropped) {
  const std::uint8_t pixels[] = {10, 20, 30, 255, 40, 50, 60, 0};
  EXPECT_THAT(decode_image(png_of(PNG_FORMAT_RGBA, pixels), "x").pixels, ElementsAre(10, 20, 30, 40, 50, 60));
}

TEST(ImageCodec, APaletteIsExpanded) {
  const std::uint8_t pixels[] = {1, 0}, palette[] = {1, 2, 3, 4, 5, 6};
  const Image image = decode_image(png_of(PNG_FORMAT_RGB_COLORMAP, pixels, palette), "x");
  EXPECT_EQ(image.channels, 3);
  EXPECT_THAT(image.pixels, ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(ImageCodec, SixteenBitsBecomeEight) {
  const std::uint16_t pixels[] = {0, 65535};
  const Image image = decode_image(png_of(PNG_FORMAT_LINEAR_Y, pixels), "x");
  EXPECT_EQ(image.channels, 1);
  EXPECT_THAT(image.pixels, ElementsAre(0, 255));
}

TEST(ImageCodec, InksBecomeColours) {
  const std::vector<std::uint8_t> inks(std::size_t{4} * 64, 200);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): TurboJPEG's type
  const tjhandle handle = tjInitCompress();
  ASSERT_EQ(tjCompress2(handle, inks.data(), 8, 0, 8, TJPF_CMYK, &bytes, &size, TJSAMP_444, 100, 0), 0);
  const Image image = decode_image({reinterpret_cast<const char*>(bytes), size}, "x");
  tjFree(bytes);
  tjDestroy(handle);
  EXPECT_EQ(image.channels, 3);
  ASSERT_EQ(image.pixels.size(), 192U);
  const int expected = 200 * 200 / 255;
  for (const std::uint8_t value : image.pixels) EXPECT_NEAR(value, expected, 2);
}

TEST(ImageCodec, EveryTruncationIsRefused) {
  for (const std::string& good : {encode_png(smooth_image(12, 12, 3)), encode_jpeg(smooth_image(12, 12, 3), 80)})
    for (std::size_t size = 0; size < good.size(); ++size) {
      const std::string error = thrown_error([&] { decode_image(std::string_view(good).substr(0, size), "pictures/cut"); });
      EXPECT_THAT(error, StartsWith("data_loss: pictures/cut: ")) << size;
    }
}

TEST(ImageCodec, EveryFlippedByteOfAPngIsRefused) {
  const std::string good = encode_png(smooth_image(12, 12, 3));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_THAT(thrown_error([&] { decode_image(bad, "x.png"); }), StartsWith("data_loss: x.png: ")) << "byte " << i;
  }
}

// Width and height of the header are made huge; a JPEG has no checksum there.
TEST(ImageCodec, AHugePromiseIsRefusedBeforeMemoryIsTaken) {
  std::string bytes = encode_jpeg(smooth_image(8, 8, 1), 80);
  const std::size_t frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  bytes.replace(frame + 5, 4, "\x3f\xff\x0f\xff");
  EXPECT_THAT(thrown_error([&] { decode_image(bytes, "x"); }), HasSubstr("16383 x 4095 pixels, which cannot be in"));
  bytes.replace(frame + 5, 4, "\x7f\xff\x7f\xff");
  EXPECT_THAT(thrown_error([&] { decode_image(bytes, "x"); }), HasSubstr("at most 67108864 are allowed"));
}

TEST(ImageCodec, WhatIsNoImageIsSaidToBeNone) {
  EXPECT_THAT(thrown_error([] { decode_image("GIF89a", "a.gif"); }), HasSubstr("a.gif: at byte 0 expected the signature"));
  EXPECT_THAT(thrown_error([] { decode_image("", "a.jpg"); }), HasSubstr("empty"));
}

TEST(ImageCodec, AJpegOfTablesOnlyIsRefused) {
  const std::string_view bytes("\xff\xd8\xff\xe2\x01\x00 cut", 10);
  EXPECT_THAT(thrown_error([&] { decode_image(bytes, "x"); }), HasSubstr("10 bytes without a frame header"));
  EXPECT_THAT(thrown_error([&] { decode_image_size(bytes, "x"); }), HasSubstr("10 bytes without a frame header"));
}

TEST(ImageCodec, SizesComeFromTheHeaderAlone) {
  const std::string png = encode_png(smooth_image(30, 20, 3)), jpeg = encode_jpeg(smooth_image(30, 20, 1), 90);
  EXPECT_EQ(decode_image_size(png.substr(0, 60), "x").height, 30);
  EXPECT_EQ(decode_image_size(jpeg.substr(0, jpeg.size() - 20), "x").width, 20);
  EXPECT_EQ(decode_image_size(jpeg, "x").channels, 1);
}

TEST(ImageResize, AConstantStaysConstant) {
  const Image image{7, 5, 3, std::vector<std::uint8_t>(105, 77)};
  for (const std::int64_t extent : {1, 3, 7, 19}) {
    const Image out = resized(image, extent, 20 - extent);
    EXPECT_EQ(out.pixels, std::vector<std::uint8_t>(static_cast<std::size_t>(extent * (20 - extent) * 3), 77));
  }
}

TEST(ImageResize, ShrinkingAverages) {
  const Image image{2, 4, 1, {0, 100, 10, 20, 100, 200, 30, 40}};
  EXPECT_THAT(resized(image, 1, 2).pixels, ElementsAre(100, 25));
  const Image row{1, 3, 1, {30, 60, 90}};
  EXPECT_THAT(resized(row, 1, 2).pixels, ElementsAre(40, 80));  // (30 + 60/2) / 1.5 and (60/2 + 90) / 1.5
}

TEST(ImageResize, GrowingInterpolates) {
  EXPECT_THAT(resized({1, 2, 1, {0, 100}}, 1, 4).pixels, ElementsAre(0, 25, 75, 100));
  EXPECT_THAT(resized({1, 1, 3, {1, 2, 3}}, 2, 1).pixels, ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(ImageResize, ACropIsTheMiddle) {
  const Image image{3, 4, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  EXPECT_THAT(centre_cropped(image, 1, 2).pixels, ElementsAre(5, 6));
  EXPECT_EQ(centre_cropped(image, 3, 4).pixels, image.pixels);
}

}  // namespace
}  // namespace trireme::data
