// SPDX-License-Identifier: Apache-2.0
// image_folder: PNG files in a folder with a sub-folder for each class, numbered in the set's order.
#include <fstream>
#include <set>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/writer_entry.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/planes.h"

namespace trireme::data::writers {
namespace {

void check(const SampleFormat& format) {
  const bool image = format.shape.rank() == 3 && (format.shape[0] == 1 || format.shape[0] == 3);
  if (!image || format.element != Element::u8)
    throw Error{invalid_argument, "samples {} of {} cannot be written as PNG, which has 1 or 3 channels of bytes; tfrecord has room",
                format.shape.to_string(), format.element == Element::u8 ? "bytes" : "floats"};
  if (format.classes == 0) throw Error{invalid_argument, "an image folder has classes, this set has numbers to predict"};
}

// Classes without names are numbered with leading zeros, so that their order by name is their own.
std::vector<std::string> folder_names(const SampleFormat& format) {
  std::vector<std::string> names;
  const std::size_t digits = std::to_string(format.classes - 1).size();
  for (std::int64_t c = 0; c < format.classes; ++c) {
    std::string name = format.class_names.empty() ? fmt::format("{:0{}}", c, digits) : format.class_names[static_cast<std::size_t>(c)];
    for (char& letter : name)
      if (letter == '/' || static_cast<unsigned char>(letter) < 32) letter = '_';
    if (name.empty() || name[0] == '.') name.insert(0, "_");
    names.push_back(std::move(name));
  }
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    throw Error{invalid_argument, "two classes would have the same folder; give them names that differ"};
  return names;
}

std::string png_of(const Source& source, std::int64_t index) {
  const Shape& shape = source.format().shape;
  const std::string planes = sample_bytes_of(source, index);
  Image image{.height = shape[1], .width = shape[2], .channels = shape[0], .pixels = std::vector<std::uint8_t>(planes.size())};
  interleave(std::as_bytes(std::span(planes)), static_cast<std::size_t>(shape[0]), std::as_writable_bytes(std::span(image.pixels)));
  return encode_png(image);
}

std::vector<std::filesystem::path> write(const Source& source, const WriteRequest& request) {
  check(source.format());
  const std::filesystem::path root = request.folder / (request.part == Part::train ? "train" : "test");
  const std::vector<std::string> folders = folder_names(source.format());
  for (const std::string& folder : folders) std::filesystem::create_directories(root / folder);
  const std::size_t digits = std::to_string(source.size() - 1).size();
  for (std::int64_t i = 0; i < source.size(); ++i) {
    const std::filesystem::path path = root / folders[static_cast<std::size_t>(source.label(i))] / fmt::format("{:0{}}.png", i, digits);
    std::ofstream file(path, std::ios::binary);
    file << png_of(source, i);
    if (!file.flush()) throw SystemError{unavailable, "cannot write {}; is the disk full?", path.string()};
  }
  return {root};
}

}  // namespace

WriterEntry image_folder() {
  return {
      .name = "image_folder", .summary = "PNG files in a folder with a sub-folder for each class", .encodings = {"png"}, .write = write};
}

}  // namespace trireme::data::writers
