// SPDX-License-Identifier: Apache-2.0
// Lists folders and looks into files whose names say nothing.
#include "trireme/data/records/record_files.h"

#include <algorithm>
#include <array>
#include <regex>

#include "trireme/base/error.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/input_file.h"
#include "trireme/data/records/record_file.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

// A damaged file with such a name is not passed over.
bool is_named_so(const fs::path& file) {
  static const std::regex kName("\\.tfrec(ord)?s?(\\.|-|$)|-[0-9]{5,}-of-[0-9]{5,}(\\.gz)?$", std::regex::icase);
  return std::regex_search(file.filename().string(), kName) && !has_extension(file, ".txt") && !has_extension(file, ".json");
}

bool begins_with_record(const fs::path& path) {
  std::error_code fault;
  if (!fs::is_regular_file(path, fault)) return false;
  const InputFile file(path);
  return record_compression(file) == Compression::none && begins_with_length(file);
}

void add_folder(const fs::path& folder, RecordFiles& out) {
  const std::size_t before = out.files.size();
  std::vector<std::string> others;
  for (const fs::path& file : files_below(folder)) {
    if (is_named_so(file) || begins_with_record(file))
      out.files.push_back(file);
    else if (!file.filename().string().ends_with(".classes.txt"))
      others.push_back(file.string());
  }
  if (out.files.size() == before) throw Error{not_found, "{}: the folder has no TFRecord file", folder.string()};
  if (!others.empty())
    out.warnings.push_back(fmt::format("tfrecord: passed over {} of {} that {} no TFRecord file{}, e.g. {}", others.size(), folder.string(),
                                       others.size() == 1 ? "is" : "are", others.size() == 1 ? "" : "s", others.front()));
}

}  // namespace

RecordFiles record_files(const std::vector<fs::path>& named) {
  RecordFiles out;
  for (const fs::path& path : named) {
    std::error_code fault;
    if (fs::is_directory(path, fault))
      add_folder(path, out);
    else
      out.files.push_back(path);
  }
  return out;
}

}  // namespace trireme::data
