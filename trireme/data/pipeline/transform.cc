// SPDX-License-Identifier: Apache-2.0
// Draws shift and mirroring from the key; the loops do the rest.
#include "trireme/data/pipeline/transform.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/data/pipeline/transform_loops.h"

namespace trireme::data {
namespace {

constexpr std::uint64_t kFlip = hash_text("flip");
constexpr std::uint64_t kCrop = hash_text("crop");

// A crop of the padded plane that begins at (offset) of 0 to 2 pad is the plane moved by offset - pad.
std::int64_t draw_shift(RandomStream& random, std::int64_t pad) {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * pad + 1))) - pad;
}

Window moved_by(const Plane& plane, std::int64_t rows, std::int64_t columns) {
  return {.from_row = std::max<std::int64_t>(0, rows),
          .to_row = std::max<std::int64_t>(0, -rows),
          .rows = plane.height - std::abs(rows),
          .from_column = std::max<std::int64_t>(0, columns),
          .to_column = std::max<std::int64_t>(0, -columns),
          .columns = plane.width - std::abs(columns)};
}

void check_count(const std::vector<float>& numbers, std::int64_t expected, std::string_view name, const SampleFormat& format) {
  if (static_cast<std::int64_t>(numbers.size()) == expected) return;
  throw Error{invalid_argument,         "normalisation has {} {}, but samples of {} need {}; measure it on this data",
              numbers.size(),           name,
              format.shape.to_string(), expected};
}

template <class Stored>
void convert_sample(const Plane& plane, const Stored* stored, std::span<const float> center, std::span<const float> factor, float* values) {
  for (std::size_t i = 0; i < center.size(); ++i) {
    const std::int64_t start = static_cast<std::int64_t>(i) * plane.height * plane.width;
    convert_plane(plane, stored + start, center[i], factor[i], values + start);
  }
}

}  // namespace

void describe(AugmentOptions& o, OptionVisitor& visit) {
  visit("flip", o.flip, "mirror images left to right with probability 1/2");
  visit("pad", o.pad, "zeros on each side before a random crop back to the size", 0, 1 << 20);
}

Transform::Transform(SampleFormat format, Normalization normalization, AugmentOptions augment)
    : format_(std::move(format)), normalization_(std::move(normalization)), augment_(augment) {
  const Shape& shape = format_.shape;
  if (shape.rank() < 1 || shape.rank() > 3 || shape.count() < 1)
    throw Error{invalid_argument, "samples of shape {} cannot be transformed; they need 1 to 3 extents above 0", shape.to_string()};
  width_ = shape[shape.rank() - 1];
  if (shape.rank() > 1) planes_ = shape[0];
  if (shape.rank() > 2) height_ = shape[1];
  check_augmentation();
  set_factors();
}

void Transform::check_augmentation() const {
  const std::string shape = format_.shape.to_string();
  if (augment_.flip && format_.shape.rank() < 3)
    throw Error{invalid_argument, "flip needs images (channels x height x width), but samples are {}; set flip = false", shape};
  const std::int64_t limit = format_.shape.rank() > 2 ? std::min(height_, width_) : width_;
  if (augment_.pad < 0 || augment_.pad >= limit)
    throw Error{invalid_argument, "pad = {} is not between 0 and {} for samples of {}", augment_.pad, limit - 1, shape};
}

void Transform::set_factors() {
  const std::int64_t count = format_.shape.rank() == 1 ? width_ : planes_;
  const float unit = format_.element == Element::u8 ? 255.0F : 1.0F;
  const std::string& kind = normalization_.kind;
  if (kind == "mean" || kind == "standard") {
    check_count(normalization_.mean, count, "means", format_);
    check_count(normalization_.scale, count, "scales", format_);
    for (const float mean : normalization_.mean) center_.push_back(mean * unit);
    for (const float scale : normalization_.scale) factor_.push_back(scale / unit);
  } else if (kind == "none" || kind == "per_sample") {
    center_.assign(static_cast<std::size_t>(planes_), 0);
    factor_.assign(static_cast<std::size_t>(planes_), 1 / unit);
  } else {
    throw Error{invalid_argument, "unknown normalisation \"{}\"; there are none, mean, standard and per_sample", kind};
  }
}

void Transform::apply(std::span<const std::byte> stored, std::uint64_t key, std::span<float> values) const {
  ensure(stored.size() == format_.sample_bytes() && static_cast<std::int64_t>(values.size()) == format_.shape.count(), "a whole sample");
  Plane plane{.height = height_, .width = width_};
  std::int64_t rows = 0, columns = 0;
  if (augment_.pad > 0) {
    RandomStream random(combine(key, kCrop));
    columns = draw_shift(random, augment_.pad);
    if (format_.shape.rank() > 2) rows = draw_shift(random, augment_.pad);
  }
  plane.window = moved_by(plane, rows, columns);
  plane.mirrored = augment_.flip && (combine(key, kFlip) & 1U) != 0;

  const auto run = [&](const auto* typed) {
    if (static_cast<std::int64_t>(center_.size()) == planes_) {
      convert_sample(plane, typed, center_, factor_, values.data());
    } else {
      convert_row(plane, typed, center_.data(), factor_.data(), values.data());
    }
  };
  if (format_.element == Element::u8) {
    run(reinterpret_cast<const std::uint8_t*>(stored.data()));
  } else {
    run(reinterpret_cast<const float*>(stored.data()));
  }
  if (normalization_.kind == "per_sample") standardize(values);
}

}  // namespace trireme::data
