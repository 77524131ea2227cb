// SPDX-License-Identifier: Apache-2.0
// Writes any set as shards of tf.train.Examples that TensorFlow and the reader tfrecord read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

struct RecordWriterOptions {
  std::int64_t shards = 1;
  std::string images = "raw";        // raw, png
  std::string compression = "none";  // none, gzip, zlib
};
void describe(RecordWriterOptions& o, OptionVisitor& visit);

// Writes FOLDER/NAME-00000-of-00010 and so on, and FOLDER/NAME.classes.txt if the classes have names; returns the shards in order.
// Sample i goes to shard i * shards / size, so that the shards in order are the set in order. The files get their names only after
// all are complete.
std::vector<std::filesystem::path> write_records(const Source& source, const std::filesystem::path& folder, const std::string& name,
                                                 const RecordWriterOptions& options);

}  // namespace trireme::data
