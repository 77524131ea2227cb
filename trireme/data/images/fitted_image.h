// SPDX-License-Identifier: Apache-2.0
// Pictures turned upright and brought to one size and number of channels.
#pragma once

#include <string_view>

#include "trireme/data/formats/image_fit.h"
#include "trireme/data/images/image_codec.h"

namespace trireme::data {

// Size and channels only: the picture is upright already.
Image fitted(Image image, const ImageFit& fit);
// What `fitted` makes of an upright picture of this size.
ImageSize fitted_size(ImageSize size, const ImageFit& fit);

// Decoded, turned upright if `fit` says so, and fitted.
Image decode_fitted(std::string_view bytes, std::string_view name, const ImageFit& fit);

}  // namespace trireme::data
