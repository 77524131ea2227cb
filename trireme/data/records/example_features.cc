// SPDX-License-Identifier: Apache-2.0
// Features of tf.train.Examples, as TensorFlow's own data sets and ours use them.
#include "trireme/data/records/example_features.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trireme/base/error.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/planes.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kLargestExtent = 1 << 20;  // three of them multiplied still fit into 64 bits
constexpr std::string_view kPng("\x89PNG\r\n\x1a\n", 8);
constexpr std::string_view kJpeg("\xff\xd8\xff", 3);

std::size_t channels_of(const Shape& shape) { return shape.rank() > 1 ? static_cast<std::size_t>(shape[0]) : 1; }

}  // namespace

void describe(ExampleOptions& o, OptionVisitor& visit) {
  visit("image", o.image, "feature with the values: bytes (raw, PNG or JPEG) or floats");
  visit("label", o.label, "feature with the class, an integer");
  visit("target", o.target, "feature with the numbers to predict, if there is no label");
  visit("encoding", o.encoding, "of image bytes; auto: PNG and JPEG are recognised by their first bytes", {"auto", "raw", "encoded"});
  visit("height", o.height, "of raw images, unless the records have a feature of this name; 0: none", 0, kLargestExtent);
  visit("width", o.width, "of raw images, unless the records have a feature of this name; 0: none", 0, kLargestExtent);
  visit("channels", o.channels, "of raw images, unless the records have a feature of this name; 0: none", 0, kLargestExtent);
}

ExampleFeatures::ExampleFeatures(const wire::Example& example, const ExampleOptions& options, std::string_view place)
    : example_(example), options_(options), place_(place) {}

std::int64_t ExampleFeatures::label() const {
  const wire::Feature* feature = find(options_.label);
  const int count = feature != nullptr ? feature->int64_list().value_size() : 0;
  if (count != 1) throw Error{data_loss, "{}: expected one integer in the feature '{}', found {}", place_, options_.label, count};
  return feature->int64_list().value(0);
}

std::span<const float> ExampleFeatures::targets() const {
  const wire::Feature* feature = find(options_.target);
  if (feature == nullptr || feature->float_list().value().empty())
    throw Error{data_loss, "{}: expected a label in the feature '{}' or floats in '{}', found neither", place_, options_.label,
                options_.target};
  const auto& values = feature->float_list().value();
  return {values.data(), static_cast<std::size_t>(values.size())};
}

bool ExampleFeatures::encoded() const {
  if (!image().has_bytes_list() || options_.encoding == "raw") return false;
  const std::string& bytes = image_bytes();
  if (options_.encoding == "encoded" || bytes.starts_with(kPng)) return true;
  // Three bytes are a short mark: a raw image may begin with them too.
  const std::vector<std::int64_t> extents = declared_extents();
  return bytes.starts_with(kJpeg) && (extents.empty() || Shape(extents).count() != static_cast<std::int64_t>(bytes.size()));
}

Element ExampleFeatures::element() const { return image().has_float_list() ? Element::f32 : Element::u8; }

Shape ExampleFeatures::shape() const {
  if (encoded()) {
    const Image decoded = decode_image(image_bytes(), place_);
    return {decoded.channels, decoded.height, decoded.width};
  }
  const std::vector<std::int64_t> extents = declared_extents();
  if (!extents.empty()) return Shape(extents);
  if (element() == Element::u8)
    throw Error{invalid_argument, "{}: a raw image of {} bytes; set height, width and channels", place_, image_bytes().size()};
  return {std::max<std::int64_t>(image().float_list().value_size(), 1)};
}

void ExampleFeatures::expect(const Shape& shape, Element element) const {
  if (this->element() != element)
    throw Error{data_loss,      "{}: expected {} in the feature '{}' as in the first record, found {}",
                place_,         element == Element::u8 ? "bytes" : "floats",
                options_.image, element == Element::u8 ? "floats" : "bytes"};
  if (encoded()) return;  // its shape shows when it is decoded
  const std::vector<std::int64_t> extents = declared_extents();
  if (!extents.empty() && Shape(extents) != shape) wrong_shape(shape, Shape(extents).to_string());
  const auto count =
      element == Element::u8 ? static_cast<std::int64_t>(image_bytes().size()) : std::int64_t{image().float_list().value_size()};
  if (count != shape.count()) wrong_shape(shape, fmt::format("{} values", count));
}

void ExampleFeatures::read(const Shape& shape, Element element, std::span<std::byte> sample) const {
  expect(shape, element);
  if (encoded()) {
    const Image decoded = decode_image(image_bytes(), place_);
    const Shape found{decoded.channels, decoded.height, decoded.width};
    if (found != shape) wrong_shape(shape, found.to_string());
    planes_of(std::as_bytes(std::span(decoded.pixels)), channels_of(shape), sample);
  } else if (element == Element::u8) {
    planes_of(std::as_bytes(std::span(image_bytes())), channels_of(shape), sample);
  } else {
    const auto& values = image().float_list().value();
    if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
      throw Error{data_loss, "{}: expected finite numbers in the feature '{}', found others", place_, options_.image};
    std::vector<float> planes(static_cast<std::size_t>(values.size()));
    planes_of(std::span<const float>(values.data(), planes.size()), channels_of(shape), std::span(planes));
    std::memcpy(sample.data(), planes.data(), sample.size());
  }
}

const wire::Feature* ExampleFeatures::find(const std::string& name) const {
  const auto found = example_.features().feature().find(name);
  return found == example_.features().feature().end() ? nullptr : &found->second;
}

const wire::Feature& ExampleFeatures::image() const {
  const wire::Feature* feature = find(options_.image);
  if (feature != nullptr && (feature->has_bytes_list() || feature->has_float_list())) return *feature;
  std::string names;
  for (const auto& entry : example_.features().feature()) names += (names.empty() ? "" : ", ") + entry.first;
  throw Error{data_loss,
              "{}: expected bytes or floats in the feature '{}', found {} (the record's features: {}); set `image`",
              place_,
              options_.image,
              feature == nullptr ? "no such feature" : "integers",
              names};
}

const std::string& ExampleFeatures::image_bytes() const {
  const auto& list = image().bytes_list();
  if (list.value_size() != 1) throw Error{data_loss, "{}: expected one image in '{}', found {}", place_, options_.image, list.value_size()};
  return list.value(0);
}

std::int64_t ExampleFeatures::extent(const std::string& name, std::int64_t otherwise) const {
  const wire::Feature* feature = find(name);
  if (feature == nullptr || feature->int64_list().value_size() != 1) return otherwise;
  const std::int64_t extent = feature->int64_list().value(0);
  if (extent < 1 || extent > kLargestExtent)
    throw Error{data_loss, "{}: expected a {} from 1 to {}, found {}", place_, name, kLargestExtent, extent};
  return extent;
}

// Empty if the record says nothing of its shape, nor do the options.
std::vector<std::int64_t> ExampleFeatures::declared_extents() const {
  const std::int64_t height = extent("height", options_.height), width = extent("width", options_.width),
                     channels = extent("channels", options_.channels);
  if (width == 0) return {};
  if (height > 0) return {std::max<std::int64_t>(channels, 1), height, width};
  if (channels > 0) return {channels, width};
  return {width};
}

void ExampleFeatures::wrong_shape(const Shape& expected, const std::string& found) const {
  throw Error{data_loss, "{}: expected an image of {} (channels first), found {}", place_, expected.to_string(), found};
}

}  // namespace trireme::data
