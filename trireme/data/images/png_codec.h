// SPDX-License-Identifier: Apache-2.0
// PNG through libpng.
#pragma once

#include <string>
#include <string_view>

#include "trireme/data/images/image_codec.h"

namespace trireme::data {

Image decode_png(std::string_view bytes, std::string_view name);
ImageSize decode_png_size(std::string_view bytes, std::string_view name);

}  // namespace trireme::data
