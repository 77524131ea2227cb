// SPDX-License-Identifier: Apache-2.0
// Coloured things on coloured grounds, made from nothing: sample i of a seed is a pure function.
#pragma once

#include <cstdint>
#include <span>

namespace trireme::data {

struct SyntheticImageForm {
  std::int64_t extent = 32;
  std::int64_t classes = 10;
  double noise = 0.05;  // deviation of each value, where 1 is white
};

// RGB planes, extent x extent each, values from 0 to 1. A class is a combination of shape, texture and hue; place, size, orientation,
// exact colours and the ground are random, so that no single pixel and no mean colour gives the class away.
class SyntheticImages {
 public:
  SyntheticImages(std::uint64_t seed, const SyntheticImageForm& form) : seed_(seed), form_(form) {}

  // `image` has 3 x extent x extent values.
  void make_image(std::int64_t index, std::span<float> image) const;
  std::int32_t label(std::int64_t index) const;

 private:
  std::uint64_t seed_;
  SyntheticImageForm form_;
};

}  // namespace trireme::data
