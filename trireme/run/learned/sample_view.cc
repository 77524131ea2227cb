// SPDX-License-Identifier: Apache-2.0
// Encodes values of samples for the page.
#include "trireme/run/learned/sample_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "trireme/base/base64.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/planes.h"

namespace trireme::run {
namespace {

constexpr std::int64_t kMaxRow = 48;   // values; more are a curve
constexpr std::size_t kMaxCurves = 6;  // channels
constexpr std::size_t kCurvePoints = 240;
constexpr std::int64_t kMaxPng = 48;  // pixels of an edge; a larger picture is a fifth as large as JPEG
constexpr int kJpegQuality = 88;

// Four digits: more are not seen, and cost room.
double rounded(double value) { return std::isfinite(value) ? std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr) : value; }

// To 0 ... 1 if they are not there.
void stretch(std::span<float> values) {
  const auto [low, high] = std::ranges::minmax(values);
  if (low >= 0 && high <= 1) return;
  const float range = high > low ? high - low : 1;
  for (float& value : values) value = (value - low) / range;
}

data::Image picture_of(const data::SampleFormat& format, std::span<const float> values) {
  const auto channels = static_cast<std::size_t>(format.shape[0]);
  const auto pixels = values.size() / channels;
  std::vector<float> levels(values.begin(), values.end());
  stretch(levels);
  const std::size_t shown = channels == 3 ? 3 : 1;
  std::vector<std::uint8_t> planes(shown * pixels);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    float level = levels[i];
    if (channels != 3)  // one grey value of all bands
      for (std::size_t c = 1; c < channels; ++c) level += levels[c * pixels + i];
    if (channels != 3) level /= static_cast<float>(channels);
    planes[i] = std::isfinite(level) ? static_cast<std::uint8_t>(std::lround(255 * std::clamp(level, 0.0F, 1.0F))) : std::uint8_t{0};
  }
  data::Image image{.height = format.shape[1], .width = format.shape[2], .channels = static_cast<std::int64_t>(shown), .pixels = {}};
  image.pixels.resize(planes.size());
  data::interleave<std::uint8_t>(planes, shown, image.pixels);
  return image;
}

Json picture_view(const data::SampleFormat& format, std::span<const float> values, std::int64_t max_edge) {
  data::Image image = picture_of(format, values);
  const std::int64_t edge = std::max(image.height, image.width);
  if (edge > max_edge)
    image = data::resized(image, std::max<std::int64_t>(1, image.height * max_edge / edge),
                          std::max<std::int64_t>(1, image.width * max_edge / edge));
  const bool is_small = std::max(image.height, image.width) <= kMaxPng;
  const std::string bytes = is_small ? data::encode_png(image) : data::encode_jpeg(image, kJpegQuality);
  return {{"picture", fmt::format("data:image/{};base64,{}", is_small ? "png" : "jpeg", to_base64(bytes))},
          {"height", image.height},
          {"width", image.width}};
}

// Means of neighbours if there are more values than points.
Json curve(std::span<const float> values) {
  const std::size_t points = std::min(values.size(), kCurvePoints);
  Json list = Json::array();
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t begin = i * values.size() / points, end = (i + 1) * values.size() / points;
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += values[k];
    list.push_back(rounded(sum / static_cast<double>(end - begin)));
  }
  return list;
}

Json curves_view(std::span<const float> values, std::size_t channels) {
  const std::size_t width = values.size() / channels;
  Json curves = Json::array();
  for (std::size_t c = 0; c < std::min(channels, kMaxCurves); ++c) curves.push_back(curve(values.subspan(c * width, width)));
  return {{"curves", std::move(curves)}, {"points", width}};
}

Json row_view(std::span<const float> values, const std::vector<std::string>& names) {
  Json row = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) row.push_back({i < names.size() ? names[i] : std::to_string(i + 1), rounded(values[i])});
  return {{"row", std::move(row)}};
}

}  // namespace

Json view_of_values(const data::SampleFormat& format, std::span<const float> values, std::int64_t max_edge,
                    const std::vector<std::string>& names) {
  if (format.shape.rank() == 3 && format.shape[1] > 1) return picture_view(format, values, max_edge);
  if (format.shape.rank() == 1 && format.shape.count() <= kMaxRow) return row_view(values, names);
  return curves_view(values, static_cast<std::size_t>(format.shape.rank() > 1 ? format.shape[0] : 1));
}

std::vector<float> stored_values(const data::Source& samples, std::int64_t index) {
  std::vector<std::byte> stored(samples.format().sample_bytes());
  samples.read(index, stored);
  std::vector<float> values(static_cast<std::size_t>(samples.format().shape.count()));
  data::Transform(samples.format(), {}).apply(stored, 0, values);
  return values;
}

void undo(const data::Normalization& normalization, const data::SampleFormat& format, std::span<float> values) {
  if (normalization.mean.empty()) return;
  const std::size_t each = values.size() / normalization.mean.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scale = normalization.scale[i / each];
    values[i] = (scale != 0 ? values[i] / scale : 0) + normalization.mean[i / each];
  }
  // What rounding left outside.
  if (format.element == data::Element::u8)
    for (float& value : values) value = std::clamp(value, 0.0F, 1.0F);
}

std::string short_name(const std::string& sample_name) {
  const auto last = sample_name.rfind('/');
  if (last == std::string::npos || last == 0) return sample_name;
  const auto before = sample_name.rfind('/', last - 1);
  return before == std::string::npos ? sample_name : sample_name.substr(before + 1);
}

}  // namespace trireme::run
