// SPDX-License-Identifier: Apache-2.0
// Which files of a folder are TFRecord files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trireme::data {

struct RecordFiles {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> warnings;
};

// Folders are replaced by the TFRecord files below them, sorted: by their names (.tfrecord, -00000-of-00010), others by their first
// bytes. not_found if a folder has none.
RecordFiles record_files(const std::vector<std::filesystem::path>& named);

}  // namespace trireme::data
