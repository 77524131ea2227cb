// SPDX-License-Identifier: Apache-2.0
// Images in another size: rows are mixed first, which is one long vector each, then the columns of what is left.
#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/data/images/image_codec.h"

namespace trireme::data {
namespace {

// Output i is the sum of weights[first[i] .. first[i + 1]) times the inputs from source[i] on.
struct Mix {
  std::vector<std::size_t> first{0};
  std::vector<std::size_t> source;
  std::vector<float> weights;
};

// Each output is the mean over the part of the input that it covers.
void add_area(Mix& mix, std::int64_t in, std::int64_t out, std::int64_t i) {
  const std::int64_t begin = i * in, end = begin + in;  // in units of 1/out input
  mix.source.push_back(static_cast<std::size_t>(begin / out));
  for (std::int64_t j = begin / out; j * out < end; ++j) {
    const std::int64_t covered = std::min(end, (j + 1) * out) - std::max(begin, j * out);
    mix.weights.push_back(static_cast<float>(covered) / static_cast<float>(in));
  }
}

void add_linear(Mix& mix, std::int64_t in, std::int64_t out, std::int64_t i) {
  const double place = (static_cast<double>(i) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
  const double inside = std::clamp(place, 0.0, static_cast<double>(in - 1));
  const auto left = std::min(static_cast<std::int64_t>(inside), std::max<std::int64_t>(in - 2, 0));
  mix.source.push_back(static_cast<std::size_t>(left));
  const auto right_share = static_cast<float>(inside - static_cast<double>(left));
  mix.weights.push_back(1 - right_share);
  if (in > 1) mix.weights.push_back(right_share);
}

Mix mix_of(std::int64_t in, std::int64_t out) {
  Mix mix;
  for (std::int64_t i = 0; i < out; ++i) {
    if (out < in)
      add_area(mix, in, out, i);
    else
      add_linear(mix, in, out, i);
    mix.first.push_back(mix.weights.size());
  }
  return mix;
}

void add_scaled(const std::uint8_t* in, float weight, std::vector<float>& sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * static_cast<float>(in[i]);
}

std::uint8_t rounded(float value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F)); }

template <std::size_t channels>
void mix_columns(const Mix& mix, const float* in, std::uint8_t* out) {
  for (std::size_t i = 0; i < mix.source.size(); ++i) {
    float sum[channels] = {};
    const float* pixel = in + mix.source[i] * channels;
    for (std::size_t w = mix.first[i]; w < mix.first[i + 1]; ++w, pixel += channels)
      for (std::size_t c = 0; c < channels; ++c) sum[c] += mix.weights[w] * pixel[c];
    for (std::size_t c = 0; c < channels; ++c) *out++ = rounded(sum[c]);
  }
}

}  // namespace

Image resized(const Image& image, std::int64_t height, std::int64_t width) {
  ensure(height > 0 && width > 0 && image.height > 0 && image.width > 0, "an image has pixels, before and after");
  ensure(image.channels == 1 || image.channels == 3, "an image has one channel or three");
  if (height == image.height && width == image.width) return image;
  const Mix rows = mix_of(image.height, height), columns = mix_of(image.width, width);
  const auto in_row = static_cast<std::size_t>(image.width * image.channels), out_row = static_cast<std::size_t>(width * image.channels);
  Image out{height, width, image.channels, std::vector<std::uint8_t>(static_cast<std::size_t>(height) * out_row)};
  std::vector<float> row(in_row);
  for (std::size_t y = 0; y < rows.source.size(); ++y) {
    std::fill(row.begin(), row.end(), 0.0F);
    const std::uint8_t* from = image.pixels.data() + rows.source[y] * in_row;
    for (std::size_t w = rows.first[y]; w < rows.first[y + 1]; ++w, from += in_row) add_scaled(from, rows.weights[w], row);
    if (image.channels == 1)
      mix_columns<1>(columns, row.data(), out.pixels.data() + y * out_row);
    else
      mix_columns<3>(columns, row.data(), out.pixels.data() + y * out_row);
  }
  return out;
}

Image centre_cropped(const Image& image, std::int64_t height, std::int64_t width) {
  ensure(height <= image.height && width <= image.width, "a crop is inside the image");
  Image out{height, width, image.channels, {}};
  const std::int64_t top = (image.height - height) / 2, left = (image.width - width) / 2;
  for (std::int64_t y = 0; y < height; ++y) {
    const auto from = image.pixels.begin() + ((top + y) * image.width + left) * image.channels;
    out.pixels.insert(out.pixels.end(), from, from + width * image.channels);
  }
  return out;
}

Image with_channels(Image image, std::int64_t channels) {
  ensure((channels == 1 || channels == 3) && (image.channels == 1 || image.channels == 3), "an image has one channel or three");
  if (image.channels == channels) return image;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(image.height * image.width * channels));
  const auto luma = [&](std::size_t i) {
    const std::uint8_t* p = &image.pixels[i * 3];
    return static_cast<std::uint8_t>((299 * p[0] + 587 * p[1] + 114 * p[2] + 500) / 1000);
  };
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = channels == 1 ? luma(i) : image.pixels[i / 3];
  return {image.height, image.width, channels, std::move(pixels)};
}

}  // namespace trireme::data
