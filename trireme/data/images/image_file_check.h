// SPDX-License-Identifier: Apache-2.0
// Checks an image file: by its structure, which is enough to refuse a truncated one, or by decoding all of it.
#pragma once

#include <filesystem>

#include "trireme/data/images/image_codec.h"

namespace trireme::data {

struct ImageCheck {
  bool pixels = false;       // decode them, too; otherwise only header and end mark
  bool orientation = false;  // the size is that of the picture turned upright
};

// Returns the picture's size. Bytes after its end mark are ignored. data_loss says where what was expected and found.
ImageSize check_image_file(const std::filesystem::path& path, const ImageCheck& check);

}  // namespace trireme::data
