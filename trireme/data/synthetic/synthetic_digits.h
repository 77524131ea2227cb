// SPDX-License-Identifier: Apache-2.0
// Images of handwritten-looking digits made from nothing: sample i of a seed is a pure function, so any worker can make any sample.
#pragma once

#include <cstdint>
#include <span>

namespace trireme::data {

// 28 x 28 grey values from 0 (paper) to 1 (ink), row-major, with a label 0 to 9. Each digit is a few strokes with random shift,
// scale, slant, rotation and thickness, plus noise: easy to learn, impossible to learn by heart.
class SyntheticDigits {
 public:
  static constexpr std::int64_t kExtent = 28;
  static constexpr std::int64_t kPixels = kExtent * kExtent;
  static constexpr std::int64_t kClasses = 10;

  explicit SyntheticDigits(std::uint64_t seed) : seed_(seed) {}

  // `image` has kPixels values.
  void make_image(std::int64_t index, std::span<float> image) const;
  std::int32_t label(std::int64_t index) const;

 private:
  std::uint64_t seed_;
};

}  // namespace trireme::data
