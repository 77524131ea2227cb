// SPDX-License-Identifier: Apache-2.0
// Decodes single images and brings them to the wanted size and channels.
#include "trireme/data/images/image_files.h"

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/images/fitted_image.h"
#include "trireme/data/images/planes.h"

namespace trireme::data {
namespace {

class ImageFiles final : public Source {
 public:
  ImageFiles(std::vector<std::filesystem::path> files, const Shape& shape, const ImageFit& fit)
      : files_(std::move(files)), format_{.shape = shape, .classes = 1}, fit_(fit) {}

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::int32_t label(std::int64_t) const override { return 0; }
  std::string sample_name(std::int64_t index) const override { return files_[static_cast<std::size_t>(index)].string(); }
  void read(std::int64_t index, std::span<std::byte> sample) const override;

 private:
  std::vector<std::filesystem::path> files_;
  SampleFormat format_;
  ImageFit fit_;
};

void ImageFiles::read(std::int64_t index, std::span<std::byte> sample) const {
  const std::string name = sample_name(index);
  const Image image = decode_fitted(read_file(name), name, fit_);
  planes_of(std::as_bytes(std::span(image.pixels)), static_cast<std::size_t>(image.channels), sample);
}

}  // namespace

std::unique_ptr<Source> image_files(const std::vector<std::filesystem::path>& files, const Shape& shape, ImageFit fit) {
  if (shape.rank() != 3 || (shape[0] != 1 && shape[0] != 3))
    throw Error{invalid_argument, "the model takes samples of {}, not images of one or three channels", shape.to_string()};
  fit.channels = shape[0];
  fit.height = shape[1];
  fit.width = shape[2];
  return std::make_unique<ImageFiles>(files, shape, fit);
}

}  // namespace trireme::data
