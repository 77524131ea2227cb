// SPDX-License-Identifier: Apache-2.0
// A sample becomes an Example with the features image, height, width, channels and label or target.
#include "trireme/data/records/record_writer.h"

#include <algorithm>
#include <cstring>

#include "trireme/base/crc32c.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/output_file.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/planes.h"
#include "trireme/data/records/record_source.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kMaxShards = 99999;  // five digits in a name

void set_integer(wire::Example& example, const std::string& name, std::int64_t value) {
  (*example.mutable_features()->mutable_feature())[name].mutable_int64_list()->add_value(value);
}

wire::Feature& image_feature(wire::Example& example) { return (*example.mutable_features()->mutable_feature())["image"]; }

std::size_t channels_of(const Shape& shape) { return shape.rank() > 1 ? static_cast<std::size_t>(shape[0]) : 1; }

void set_shape(wire::Example& example, const Shape& shape) {
  set_integer(example, "width", shape[shape.rank() - 1]);
  if (shape.rank() > 1) set_integer(example, "channels", shape[0]);
  if (shape.rank() > 2) set_integer(example, "height", shape[1]);
}

void set_bytes(wire::Example& example, const Shape& shape, std::span<const std::byte> planes, bool png) {
  std::string bytes(planes.size(), '\0');
  interleave(planes, channels_of(shape), std::as_writable_bytes(std::span(bytes)));
  if (png) bytes = encode_png({.height = shape[1], .width = shape[2], .channels = shape[0], .pixels = {bytes.begin(), bytes.end()}});
  image_feature(example).mutable_bytes_list()->add_value(std::move(bytes));
}

void set_floats(wire::Example& example, const Shape& shape, std::span<const std::byte> bytes) {
  std::vector<float> planes(bytes.size() / sizeof(float));
  std::memcpy(planes.data(), bytes.data(), bytes.size());
  auto& values = *image_feature(example).mutable_float_list()->mutable_value();
  values.Resize(static_cast<int>(planes.size()), 0);
  interleave(std::span<const float>(planes), channels_of(shape), std::span(values.mutable_data(), planes.size()));
}

wire::Example make_example(const Source& source, std::int64_t index, bool png) {
  const SampleFormat& format = source.format();
  std::vector<std::byte> sample(format.sample_bytes());
  source.read(index, sample);
  wire::Example example;
  set_shape(example, format.shape);
  if (format.element == Element::f32) {
    set_floats(example, format.shape, sample);
  } else {
    set_bytes(example, format.shape, sample, png);
  }
  if (format.targets == 0) set_integer(example, "label", source.label(index));
  for (const float target : source.target(index))
    (*example.mutable_features()->mutable_feature())["target"].mutable_float_list()->add_value(target);
  return example;
}

// The same sample must give the same bytes: maps are written in the order of their keys.
std::string serialized(const wire::Example& example) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  ensure(example.SerializeToCodedStream(&coded), "an Example can be written");
  coded.Trim();
  return bytes;
}

void check(const Source& source, const RecordWriterOptions& options) {
  const SampleFormat& format = source.format();
  if (options.shards < 1 || options.shards > std::min(source.size(), kMaxShards))
    throw Error{invalid_argument, "{} samples can't be written as {} shards: a shard has at least one, and there are at most {}",
                source.size(), options.shards, kMaxShards};
  const bool colours = format.shape.rank() == 3 && (format.shape[0] == 1 || format.shape[0] == 3);
  if (options.images == "png" && (format.element != Element::u8 || !colours))
    throw Error{invalid_argument, "samples {} of {} can't be written as PNG, which has 1 or 3 channels of bytes; write them raw",
                format.shape.to_string(), format.element == Element::u8 ? "bytes" : "floats"};
  for (const std::string& name : format.class_names)
    if (name.empty() || name.find_first_of("\r\n") != std::string::npos)
      throw Error{invalid_argument, "the class name '{}' is empty or has a line end in it, it can't be written", name};
}

Compression compression_of(const std::string& name) {
  return name == "gzip" ? Compression::gzip : name == "zlib" ? Compression::zlib : Compression::none;
}

void write_class_names(const std::filesystem::path& shard, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  const std::filesystem::path path = class_names_file(shard);
  // Names of another set that stood here before would be taken for ours.
  std::filesystem::remove(path);
  if (!names.empty()) write_file_atomically(path, text);
}

}  // namespace

void describe(RecordWriterOptions& o, OptionVisitor& visit) {
  visit("shards", o.shards, "files the samples are written to", 1, kMaxShards);
  visit("images", o.images, "how bytes are stored", {"raw", "png"});
  visit("compression", o.compression, "of the whole files", {"none", "gzip", "zlib"});
}

std::vector<std::filesystem::path> write_records(const Source& source, const std::filesystem::path& folder, const std::string& name,
                                                 const RecordWriterOptions& options) {
  check(source, options);
  std::filesystem::create_directories(folder);
  std::vector<std::filesystem::path> paths;
  std::vector<OutputFile> files;
  std::int64_t index = 0;
  for (std::int64_t shard = 0; shard < options.shards; ++shard) {
    paths.push_back(folder / fmt::format("{}-{:05}-of-{:05}", name, shard, options.shards));
    OutputFile& file = files.emplace_back(paths.back(), compression_of(options.compression));
    for (; index < source.size() && index * options.shards / source.size() == shard; ++index)
      file.write(framed_record(serialized(make_example(source, index, options.images == "png"))));
    file.close();
  }
  write_class_names(paths.front(), source.format().class_names);
  for (OutputFile& file : files) file.publish();
  return paths;
}

}  // namespace trireme::data
