// SPDX-License-Identifier: Apache-2.0
// Which way up a picture is: cameras store it as the sensor saw it and note in its EXIF data how the camera was held.
#pragma once

#include <optional>
#include <string_view>

#include "trireme/data/images/image_codec.h"

namespace trireme::data {

// EXIF's numbers. The name says what has to be done to the stored picture; turns are clockwise.
enum class Orientation {
  upright = 1,
  mirror = 2,
  half_turn = 3,
  flip = 4,
  transpose = 5,
  quarter_turn = 6,
  transverse = 7,
  three_quarter_turn = 8,
};

// Of a JPEG or PNG, by what stands before its pixels; upright if nothing valid does. None: `bytes` end before the pixels begin.
std::optional<Orientation> find_orientation(std::string_view bytes);

Image upright(Image image, Orientation orientation);
ImageSize upright(ImageSize size, Orientation orientation);

}  // namespace trireme::data
