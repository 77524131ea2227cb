// SPDX-License-Identifier: Apache-2.0
// One way for readers and predictions, so that a model sees pictures as it was trained on them.
#include "trireme/data/images/fitted_image.h"

#include <algorithm>

#include "trireme/data/images/orientation.h"

namespace trireme::data {
namespace {

// The largest middle part that has the shape of a sample.
Image cropped_to_shape(const Image& image, const ImageFit& fit) {
  const std::int64_t height = (image.width * fit.height + fit.width / 2) / fit.width;
  const std::int64_t width = (image.height * fit.width + fit.height / 2) / fit.height;
  return centre_cropped(image, std::clamp<std::int64_t>(height, 1, image.height), std::clamp<std::int64_t>(width, 1, image.width));
}

}  // namespace

Image fitted(Image image, const ImageFit& fit) {
  if (fit.channels == 1) image = with_channels(std::move(image), 1);  // before the resize, which then has less to do
  if (fit.height > 0) {
    if (fit.crop) image = cropped_to_shape(image, fit);
    image = resized(image, fit.height, fit.width);
  }
  return fit.channels == 0 ? image : with_channels(std::move(image), fit.channels);
}

ImageSize fitted_size(ImageSize size, const ImageFit& fit) {
  if (fit.height > 0) size = {fit.height, fit.width, size.channels};
  if (fit.channels > 0) size.channels = fit.channels;
  return size;
}

Image decode_fitted(std::string_view bytes, std::string_view name, const ImageFit& fit) {
  Image image = decode_image(bytes, name);
  if (fit.orientation) image = upright(std::move(image), find_orientation(bytes).value_or(Orientation::upright));
  return fitted(std::move(image), fit);
}

}  // namespace trireme::data
