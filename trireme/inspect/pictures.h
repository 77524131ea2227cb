// SPDX-License-Identifier: Apache-2.0
// What pictures are like: their sizes and colours, and what follows from them for a reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/inspect/finding.h"

namespace trireme::inspect {

// By its name: what readers of pictures take.
bool is_picture(const std::filesystem::path& file);
// By its name: a picture in a format that they don't.
bool is_foreign_picture(const std::filesystem::path& file);

// How pictures become samples of one size: the median one, no larger than a network for pictures trains on in minutes.
struct PictureFacts {
  std::int64_t height = 0, width = 0, channels = 3;
  bool crop = false;  // shapes differ so much that stretching would distort them
  bool same_size = true;
  std::string sizes;    // "64x48", or "from 40x32 to 640x480, median 64x48"
  std::string colours;  // "colour", "grey", "grey, stored as colour"
};

// Damaged ones are passed over here; data_loss if none is good.
PictureFacts look_at_pictures(const std::vector<std::filesystem::path>& pictures);

// height, width, channels and fit, and what happens to damaged ones.
void add_picture_options(const PictureFacts& facts, Finding& finding);

// Whether a mirrored picture shows the same: not so for grey ones, nor where classes are letters, digits or sides.
bool may_be_mirrored(const PictureFacts& facts, const std::vector<std::string>& class_names);

}  // namespace trireme::inspect
