// SPDX-License-Identifier: Apache-2.0
// cifar: batches as the binary version of CIFAR-10 has them, a label byte and three planes of 32 x 32.
#include "trireme/base/error.h"
#include "trireme/data/formats/output_file.h"
#include "trireme/data/formats/writer_entry.h"

namespace trireme::data::writers {
namespace {

void check(const SampleFormat& format) {
  if (format.shape != Shape{3, 32, 32} || format.element != Element::u8)
    throw Error{invalid_argument, "samples {} of {} cannot be written as CIFAR batches, which have 3x32x32 bytes; tfrecord has room",
                format.shape.to_string(), format.element == Element::u8 ? "bytes" : "floats"};
  if (format.classes == 0 || format.classes > 10)
    throw Error{invalid_argument, "CIFAR-10 batches have 10 classes, this set has {}; tfrecord has room", format.classes};
}

std::filesystem::path batch_path(const WriteRequest& request, std::int64_t batch, std::int64_t batches) {
  if (request.part == Part::train) return request.folder / fmt::format("data_batch_{}.bin", batch + 1);
  return request.folder / (batches == 1 ? "test_batch.bin" : fmt::format("test_batch_{}.bin", batch + 1));
}

std::vector<std::filesystem::path> write(const Source& source, const WriteRequest& request) {
  check(source.format());
  const std::int64_t batches = std::min(request.shards > 0 ? request.shards : request.part == Part::train ? 5 : 1, source.size());
  std::vector<std::filesystem::path> paths;
  std::vector<OutputFile> files;
  std::int64_t index = 0;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    paths.push_back(batch_path(request, batch, batches));
    OutputFile& file = files.emplace_back(paths.back(), Compression::none);
    for (; index < source.size() && index * batches / source.size() == batch; ++index)
      file.write(std::string(1, static_cast<char>(source.label(index))) + sample_bytes_of(source, index));
    file.close();
  }
  for (OutputFile& file : files) file.publish();
  return paths;
}

}  // namespace

WriterEntry cifar() {
  return {.name = "cifar", .summary = "binary batches as CIFAR-10 has them, five for training", .sharded = true, .write = write};
}

}  // namespace trireme::data::writers
