// SPDX-License-Identifier: Apache-2.0
// How a picture becomes a sample: which way up, its size and its channels.
#pragma once

#include <cstdint>

namespace trireme::data {

struct ImageFit {
  std::int64_t height = 0;    // 0: that of the picture
  std::int64_t width = 0;     // goes with height
  std::int64_t channels = 0;  // 1 or 3; 0: those of the picture
  bool crop = false;          // where the shape differs: the middle is cut out; otherwise the picture is stretched
  bool orientation = true;    // turned as its EXIF data say
};

}  // namespace trireme::data
