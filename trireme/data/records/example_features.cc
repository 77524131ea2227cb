// SPDX-License-Identifier: Apache-2.0
// Features of tf.train.Examples, as TensorFlow's own data sets and ours use them.
#include "trireme/data/records/example_features.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trireme/base/error.h"
#include "trireme/data/images/fitted_image.h"
#include "trireme/data/images/orientation.h"
#include "trireme/data/images/planes.h"
#include "trireme/data/records/feature_list.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kLargestExtent = 1 << 20;  // three of them multiplied still fit into 64 bits
constexpr std::string_view kPng("\x89PNG\r\n\x1a\n", 8);
constexpr std::string_view kJpeg("\xff\xd8\xff", 3);
constexpr std::string_view kJpegEnd("\xff\xd9", 2);

std::size_t channels_of(const Shape& shape) { return shape.rank() > 1 ? static_cast<std::size_t>(shape[0]) : 1; }

Shape shape_of(const ImageSize& size) { return {size.channels, size.height, size.width}; }

}  // namespace

void describe(ExampleOptions& o, OptionVisitor& visit) {
  visit("image", o.image, "feature with the values: bytes (raw, PNG or JPEG) or floats");
  visit("label", o.label, "feature with the class: an integer, or a text (classes are then sorted by name)");
  visit("target", o.target, "feature with the numbers to predict, if there is no label");
  visit("encoding", o.encoding, "of image bytes; auto: PNG and JPEG are recognised by their first bytes", {"auto", "raw", "encoded"});
  visit("height", o.picture.height,
        "of the samples: pictures of another size are resized; also of raw images whose records have no feature of this name; 0: none", 0,
        kLargestExtent);
  visit("width", o.picture.width, "of the samples; goes with height", 0, kLargestExtent);
  visit("channels", o.picture.channels, "of the samples: 1 (grey) or 3 (colour), others are converted; of raw images any number; 0: none",
        0, kLargestExtent);
  describe_fit(o.picture, visit);
}

ExampleFeatures::ExampleFeatures(const wire::Example& example, const ExampleOptions& options, std::string_view place)
    : example_(example), options_(options), place_(place) {}

ExampleLabel ExampleFeatures::label() const {
  const wire::Feature* feature = find(options_.label);
  if (feature != nullptr && count_of(*feature) == 1) {
    if (feature->has_int64_list()) return {.number = feature->int64_list().value(0)};
    if (feature->has_bytes_list() && is_label_text(feature->bytes_list().value(0)))
      return {.is_text = true, .text = feature->bytes_list().value(0)};
    const float number = feature->has_float_list() ? feature->float_list().value(0) : NAN;
    if (options_.float_classes && number == std::floor(number) && std::abs(number) <= kLargestExtent)
      return {.number = static_cast<std::int64_t>(number)};
  }
  const bool is_float = feature != nullptr && feature->has_float_list();
  throw Error{data_loss,
              "{}: expected the class, one integer or text, in the feature '{}', found {}; {}; the record's features: {}",
              place_,
              options_.label,
              feature == nullptr ? "no such feature" : found_values(*feature),
              is_float ? fmt::format("write data.target = \"{}\" if it is to be predicted as numbers, data.classes = N if these are the "
                                     "numbers of N classes",
                                     options_.label)
                       : label_advice(example_),
              listed_features(example_)};
}

std::span<const float> ExampleFeatures::targets() const {
  const wire::Feature* feature = find(options_.target);
  if (feature == nullptr || feature->float_list().value().empty())
    throw Error{data_loss,
                "{}: expected a label in the feature '{}' or floats in '{}', found {}; {}; the record's features: {}",
                place_,
                options_.label,
                options_.target,
                feature == nullptr ? "neither" : found_values(*feature) + " in the latter",
                label_advice(example_),
                listed_features(example_)};
  const auto& values = feature->float_list().value();
  return {values.data(), static_cast<std::size_t>(values.size())};
}

bool ExampleFeatures::encoded() const {
  if (!image().has_bytes_list() || options_.encoding == "raw") return false;
  const std::string& bytes = image_bytes();
  if (options_.encoding == "encoded" || bytes.starts_with(kPng)) return true;
  // Three bytes are a short mark: a raw image may begin with them too.
  const std::vector<std::int64_t> extents = declared_extents();
  return bytes.starts_with(kJpeg) &&
         (extents.empty() || bytes.ends_with(kJpegEnd) || Shape(extents).count() != static_cast<std::int64_t>(bytes.size()));
}

Element ExampleFeatures::element() const { return image().has_float_list() ? Element::f32 : Element::u8; }

Shape ExampleFeatures::shape() const {
  if (encoded()) {
    ImageSize size = decode_image_size(image_bytes(), place_);
    if (options_.picture.orientation) size = upright(size, find_orientation(image_bytes()).value_or(Orientation::upright));
    return shape_of(fitted_size(size, fit()));
  }
  const std::vector<std::int64_t> extents = declared_extents();
  if (!extents.empty()) {
    const Shape stored(extents);
    return is_picture(stored) ? shape_of(fitted_size({stored[1], stored[2], stored[0]}, fit())) : stored;
  }
  if (element() == Element::u8)
    throw Error{invalid_argument, "{}: a raw image of {} bytes; set height, width and channels", place_, image_bytes().size()};
  return {std::max<std::int64_t>(image().float_list().value_size(), 1)};
}

void ExampleFeatures::expect(const Shape& shape, Element element) const {
  expect_element(element);
  if (encoded()) {
    if (const Shape found = this->shape(); found != shape) wrong_shape(shape, found);
    return;
  }
  const std::vector<std::int64_t> extents = declared_extents();
  const Shape stored = extents.empty() ? shape : Shape(extents);
  if (stored != shape && !is_picture(stored)) wrong_shape(shape, stored);
  if (is_picture(stored) && this->shape() != shape) wrong_shape(shape, this->shape());
  expect_count(stored);
}

void ExampleFeatures::read(const Shape& shape, Element element, std::span<std::byte> sample) const {
  if (encoded()) {
    expect_element(element);
    const Image decoded = decode_fitted(image_bytes(), place_, fit());
    if (const Shape found = shape_of({decoded.height, decoded.width, decoded.channels}); found != shape) wrong_shape(shape, found);
    planes_of(std::as_bytes(std::span(decoded.pixels)), channels_of(shape), sample);
    return;
  }
  expect(shape, element);
  const std::vector<std::int64_t> extents = declared_extents();
  const Shape stored = extents.empty() ? shape : Shape(extents);
  if (stored != shape) {
    const std::string& bytes = image_bytes();
    const Image image = fitted({stored[1], stored[2], stored[0], {bytes.begin(), bytes.end()}}, fit());
    planes_of(std::as_bytes(std::span(image.pixels)), channels_of(shape), sample);
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

const wire::Feature* ExampleFeatures::find(std::string_view name) const {
  const auto found = example_.features().feature().find(std::string(name));
  return found == example_.features().feature().end() ? nullptr : &found->second;
}

const wire::Feature& ExampleFeatures::image() const {
  const wire::Feature* feature = find(options_.image);
  if (feature != nullptr && (feature->has_bytes_list() || feature->has_float_list())) return *feature;
  throw Error{data_loss,
              "{}: expected bytes or floats in the feature '{}', found {}; {}; the record's features: {}",
              place_,
              options_.image,
              feature == nullptr ? "no such feature" : found_values(*feature),
              image_advice(example_),
              listed_features(example_)};
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
  const PictureOptions& o = options_.picture;
  const std::int64_t height = extent("height", o.height), width = extent("width", o.width), channels = extent("channels", o.channels);
  if (width == 0) return {};
  if (height > 0) return {std::max<std::int64_t>(channels, 1), height, width};
  if (channels > 0) return {channels, width};
  return {width};
}

// Bytes of one or three channels can be resized.
bool ExampleFeatures::is_picture(const Shape& stored) const {
  return element() == Element::u8 && stored.rank() == 3 && (stored[0] == 1 || stored[0] == 3);
}

ImageFit ExampleFeatures::fit() const {
  ImageFit fit = fit_of(options_.picture);
  if (encoded()) {
    check_options(options_.picture, "tfrecord");
    if (fit.channels > 3)
      throw Error{invalid_argument, "tfrecord: channels is {}; 1 (grey) and 3 (colour) are possible for PNG and JPEG", fit.channels};
  }
  if (fit.height == 0 || fit.width == 0) fit.height = fit.width = 0;
  if (fit.channels != 1 && fit.channels != 3) fit.channels = 0;
  return fit;
}

void ExampleFeatures::expect_element(Element element) const {
  if (this->element() != element)
    throw Error{data_loss,      "{}: expected {} in the feature '{}' as in the first record, found {}",
                place_,         element == Element::u8 ? "bytes" : "floats",
                options_.image, element == Element::u8 ? "floats" : "bytes"};
}

void ExampleFeatures::expect_count(const Shape& stored) const {
  const auto count =
      element() == Element::u8 ? static_cast<std::int64_t>(image_bytes().size()) : std::int64_t{image().float_list().value_size()};
  if (count != stored.count())
    throw Error{data_loss, "{}: expected an image of {} (channels first), found {} values", place_, stored.to_string(), count};
}

void ExampleFeatures::wrong_shape(const Shape& expected, const Shape& found) const {
  const bool pictures = element() == Element::u8 && expected.rank() == 3 && found.rank() == 3;
  throw Error{data_loss,
              "{}: expected an image of {} (channels first) as in the first record, found {}{}",
              place_,
              expected.to_string(),
              found.to_string(),
              pictures ? resize_advice(expected) : ""};
}

}  // namespace trireme::data
