// SPDX-License-Identifier: Apache-2.0
// tfrecord: shards of tf.train.Examples, train-00000-of-00004 and so on.
#include "trireme/data/formats/writer_entry.h"
#include "trireme/data/records/record_writer.h"

namespace trireme::data::writers {
namespace {

std::vector<std::filesystem::path> write(const Source& source, const WriteRequest& request) {
  const RecordWriterOptions options{
      .shards = std::max<std::int64_t>(request.shards, 1), .images = request.encoding, .compression = request.compression};
  return write_records(source, request.folder, request.part == Part::train ? "train" : "test", options);
}

}  // namespace

WriterEntry tfrecord() {
  return {.name = "tfrecord",
          .summary = "TFRecord shards of tf.train.Example, which TensorFlow reads too",
          .sharded = true,
          .compressions = {"none", "gzip", "zlib"},
          .encodings = {"raw", "png"},
          .write = write};
}

}  // namespace trireme::data::writers
