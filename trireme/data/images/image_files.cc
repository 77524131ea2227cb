// SPDX-License-Identifier: Apache-2.0
// Decodes single images and brings them to the wanted size and channels.
#include "trireme/data/images/image_files.h"

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/planes.h"

namespace trireme::data {
namespace {

class ImageFiles final : public Source {
 public:
  ImageFiles(std::vector<std::filesystem::path> files, SampleFormat format) : files_(std::move(files)), format_(std::move(format)) {}

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::int32_t label(std::int64_t) const override { return 0; }
  std::string sample_name(std::int64_t index) const override { return files_[static_cast<std::size_t>(index)].string(); }
  void read(std::int64_t index, std::span<std::byte> sample) const override;

 private:
  std::vector<std::filesystem::path> files_;
  SampleFormat format_;
};

void ImageFiles::read(std::int64_t index, std::span<std::byte> sample) const {
  const std::string name = sample_name(index);
  const Image image = resized(with_channels(decode_image(read_file(name), name), format_.shape[0]), format_.shape[1], format_.shape[2]);
  planes_of(std::as_bytes(std::span(image.pixels)), static_cast<std::size_t>(image.channels), sample);
}

}  // namespace

std::unique_ptr<Source> image_files(const std::vector<std::filesystem::path>& files, const Shape& shape) {
  if (shape.rank() != 3 || (shape[0] != 1 && shape[0] != 3))
    throw Error{invalid_argument, "the model takes samples of {}, not images of one or three channels", shape.to_string()};
  return std::make_unique<ImageFiles>(files, SampleFormat{.shape = shape, .classes = 1});
}

}  // namespace trireme::data
