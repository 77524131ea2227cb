// SPDX-License-Identifier: Apache-2.0
// idx: a file of images or vectors and a file of labels, named as MNIST's are.
#include "trireme/base/error.h"
#include "trireme/data/formats/output_file.h"
#include "trireme/data/formats/writer_entry.h"

namespace trireme::data::writers {
namespace {

void check(const SampleFormat& format) {
  if (format.element != Element::u8 || format.shape.rank() == 2)
    throw Error{invalid_argument, "samples {} of {} cannot be written as IDX, which is for images and vectors of bytes; tfrecord has room",
                format.shape.to_string(), format.element == Element::u8 ? "bytes" : "floats"};
  if (format.classes == 0 || format.classes > 256)
    throw Error{invalid_argument, "IDX has labels from 0 to 255, this set has {}; tfrecord has room",
                format.classes == 0 ? "numbers to predict instead" : fmt::format("{} classes", format.classes)};
}

// Samples first; a grey image has no axis for its channel.
std::vector<std::int64_t> dimensions_of(const Source& source) {
  const Shape& shape = source.format().shape;
  std::vector<std::int64_t> dimensions(shape.begin(), shape.end());
  if (shape.rank() == 3 && shape[0] == 1) dimensions.erase(dimensions.begin());
  dimensions.insert(dimensions.begin(), source.size());
  return dimensions;
}

std::string header(const std::vector<std::int64_t>& dimensions) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(dimensions.size())};
  for (const std::int64_t extent : dimensions)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift);
  return bytes;
}

std::vector<std::filesystem::path> write(const Source& source, const WriteRequest& request) {
  check(source.format());
  const bool gzip = request.compression == "gzip";
  const std::vector<std::int64_t> dimensions = dimensions_of(source);
  const auto path = [&](std::string_view what, std::size_t rank) {
    return request.folder /
           fmt::format("{}-{}-idx{}-ubyte{}", request.part == Part::train ? "train" : "t10k", what, rank, gzip ? ".gz" : "");
  };
  std::vector<std::filesystem::path> paths{path("images", dimensions.size()), path("labels", 1)};
  OutputFile images(paths[0], gzip ? Compression::gzip : Compression::none);
  OutputFile labels(paths[1], gzip ? Compression::gzip : Compression::none);
  images.write(header(dimensions));
  labels.write(header({source.size()}));
  for (std::int64_t i = 0; i < source.size(); ++i) {
    images.write(sample_bytes_of(source, i));
    labels.write(std::string(1, static_cast<char>(source.label(i))));
  }
  images.close();
  labels.close();
  images.publish();
  labels.publish();
  return paths;
}

}  // namespace

WriterEntry idx() {
  return {.name = "idx", .summary = "IDX files as MNIST has them, images then labels", .compressions = {"none", "gzip"}, .write = write};
}

}  // namespace trireme::data::writers
