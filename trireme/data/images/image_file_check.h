// SPDX-License-Identifier: Apache-2.0
// Looks at both ends of an image file: enough to refuse a truncated one without decoding it.
#pragma once

#include <filesystem>

#include "trireme/data/images/image_codec.h"

namespace trireme::data {

// Checks signature, header and end marker; returns the size in the header. data_loss says where what was expected and found.
ImageSize check_image_file(const std::filesystem::path& path);

}  // namespace trireme::data
