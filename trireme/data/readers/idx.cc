// SPDX-License-Identifier: Apache-2.0
// idx: the files of MNIST and its kin, a file of images and a file of labels, plain or gzipped.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/byte_stream.h"
#include "trireme/data/formats/class_count.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data::readers {
namespace {

constexpr std::uint8_t kU8 = 0x08;
constexpr std::uint8_t kF32 = 0x0d;

struct IdxOptions {
  std::int64_t classes = 0;
};

void describe(IdxOptions& o, OptionVisitor& visit) {
  visit("classes", o.classes, "how many there are; 0: the largest label + 1", 0, kMaxClasses);
}

struct Header {
  Element element = Element::u8;
  std::vector<std::int64_t> dimensions;  // samples first
};

Header read_header(ByteStream& in) {
  std::array<std::byte, 4> magic{};
  in.read(magic, "the IDX magic number");
  const auto type = std::to_integer<std::uint8_t>(magic[2]), rank = std::to_integer<std::uint8_t>(magic[3]);
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0} || (type != kU8 && type != kF32) || rank < 1 || rank > 4)
    throw Error{data_loss,
                "{}: expected the magic number of IDX at byte 0 (0, 0, type 8 or 13, rank 1 to 4), found {}, {}, {}, {}",
                in.name(),
                std::to_integer<int>(magic[0]),
                std::to_integer<int>(magic[1]),
                type,
                rank};
  Header header{.element = type == kU8 ? Element::u8 : Element::f32};
  for (int axis = 0; axis < rank; ++axis) {
    std::array<std::byte, 4> bytes{};
    in.read(bytes, "the dimensions");
    std::int64_t extent = 0;
    for (const std::byte b : bytes) extent = extent << 8 | std::to_integer<std::int64_t>(b);
    if (extent == 0) throw Error{data_loss, "{}: expected a dimension of at least 1 at byte {}, found 0", in.name(), in.position() - 4};
    header.dimensions.push_back(extent);
  }
  return header;
}

// Of all samples together; the product of four 32-bit numbers may exceed what 64 bits hold.
std::uint64_t content_bytes(const Header& header, const ByteStream& in) {
  std::uint64_t bytes = header.element == Element::u8 ? 1 : sizeof(float);
  for (const std::int64_t extent : header.dimensions)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      throw Error{data_loss, "{}: the dimensions {} are more than a file can hold", in.name(), Shape(header.dimensions).to_string()};
  return bytes;
}

Shape sample_shape(const Header& header, const ByteStream& in) {
  const auto& d = header.dimensions;
  if (d.size() == 1)
    throw Error{invalid_argument, "{}: expected images, found a list of {} labels; `files` has images, labels, images, labels ...",
                in.name(), d[0]};
  if (d.size() == 3) return {1, d[1], d[2]};
  return Shape(std::vector(d.begin() + 1, d.end()));
}

void swap_floats(std::span<std::byte> values, const ByteStream& in, std::uint64_t offset) {
  for (std::size_t i = 0; i < values.size(); i += sizeof(float)) {
    const std::span<std::byte> bytes = values.subspan(i, sizeof(float));
    std::ranges::reverse(bytes);
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    if (!std::isfinite(value)) throw Error{data_loss, "{}: expected a finite number at byte {}, found {}", in.name(), offset + i, value};
  }
}

std::int64_t append_images(const std::filesystem::path& path, MemorySamples& out) {
  static_assert(std::endian::native == std::endian::little, "IDX files are big-endian");
  ByteStream in(path);
  const Header header = read_header(in);
  const Shape shape = sample_shape(header, in);
  if (out.values.empty()) {
    out.format.shape = shape;
    out.format.element = header.element;
  } else if (shape != out.format.shape || header.element != out.format.element) {
    throw Error{invalid_argument, "{}: expected images {} like those of the first file, found {}", in.name(), out.format.shape.to_string(),
                shape.to_string()};
  }
  const std::size_t before = out.values.size();
  const std::uint64_t offset = in.position();
  in.append_to(out.values, content_bytes(header, in), fmt::format("{} values", Shape(header.dimensions).to_string()));
  in.expect_end();
  if (header.element == Element::f32) swap_floats(std::span(out.values).subspan(before), in, offset);
  return header.dimensions[0];
}

void append_labels(const std::filesystem::path& path, std::int64_t images, const IdxOptions& options, MemorySamples& out) {
  ByteStream in(path);
  const Header header = read_header(in);
  if (header.dimensions.size() != 1 || header.element != Element::u8)
    throw Error{invalid_argument,
                "{}: expected labels (rank 1, type 8), found rank {}, type {}; `files` has images, labels, images, labels ...", in.name(),
                header.dimensions.size(), header.element == Element::u8 ? kU8 : kF32};
  if (header.dimensions[0] != images)
    throw Error{data_loss, "{}: expected {} labels, one an image, found {} at byte 4", in.name(), images, header.dimensions[0]};
  std::vector<std::byte> labels;
  const std::uint64_t offset = in.position();
  in.append_to(labels, static_cast<std::uint64_t>(images), fmt::format("{} labels", images));
  in.expect_end();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = std::to_integer<std::int64_t>(labels[i]);
    if (options.classes > 0 && label >= options.classes)
      checked_label(label, options.classes, fmt::format("{}: byte {}", in.name(), offset + i));
    out.labels.push_back(static_cast<std::int32_t>(label));
  }
}

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const IdxOptions&>(request.options);
  if (request.files.empty() || request.files.size() % 2 != 0)
    throw Error{invalid_argument, "the reader idx takes pairs of files, images then labels; found {} files", request.files.size()};
  MemorySamples samples{.file_starts = {}};
  for (std::size_t i = 0; i < request.files.size(); i += 2) {
    samples.file_starts.push_back(static_cast<std::int64_t>(samples.labels.size()));
    const std::int64_t images = append_images(request.files[i], samples);
    append_labels(request.files[i + 1], images, options, samples);
  }
  samples.format.classes = count_classes(samples.labels, options.classes);
  return std::make_unique<MemorySource>(std::move(samples));
}

ReaderRequest example(const std::filesystem::path& folder) {
  std::string images("\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02", 16);
  for (int pixel = 0; pixel < 3 * 2 * 2; ++pixel) images += static_cast<char>(pixel * 20);
  const std::string labels("\0\0\x08\x01\0\0\0\x03\x02\0\x01", 11);
  write_file_atomically(folder / "images", images);
  write_file_atomically(folder / "labels", labels);
  return {.files = {folder / "images", folder / "labels"}, .options = IdxOptions{}};
}

}  // namespace

ReaderEntry idx() {
  return {.name = "idx",
          .summary = "IDX files as MNIST has them, images then labels, plain or gzipped",
          .options = options_type<IdxOptions>(),
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
