// SPDX-License-Identifier: Apache-2.0
// added_labels: one label per line, a format that is added from outside.
#include <string>

#include "trireme/base/files.h"
#include "trireme/data/formats/writer_entry.h"

namespace trireme::data::writers {
namespace {

std::vector<std::filesystem::path> write(const Source& source, const WriteRequest& request) {
  std::string text;
  for (std::int64_t i = 0; i < source.size(); ++i) text += std::to_string(source.label(i)) + "\n";
  const std::filesystem::path path = request.folder / (request.part == Part::train ? "train.labels" : "test.labels");
  write_file_atomically(path, text);
  return {path};
}

}  // namespace

WriterEntry added_labels() { return {.name = "added_labels", .summary = "one label per line", .write = write}; }

}  // namespace trireme::data::writers
