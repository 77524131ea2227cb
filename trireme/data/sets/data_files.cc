// SPDX-License-Identifier: Apache-2.0
// From the names in [data] to files and back.
#include "trireme/data/sets/data_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/named_files.h"
#include "trireme/data/formats/text_lists.h"
#include "trireme/data/records/record_source.h"
#include "trireme/data/sets/file_options.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  void add(const std::string& key, const fs::path& named) {
    const fs::path path = fs::absolute(named).lexically_normal();
    std::error_code fault;
    const fs::file_status status = fs::status(path, fault);
    if (fs::is_directory(status)) return add_folder(key, path);
    if (!fs::is_regular_file(status)) throw Error{not_found, "{}: there is no such file or folder; [data] {} names it", path.string(), key};
    add_one(key, path);
  }
  DataFiles take() { return std::move(out_); }

 private:
  void add_folder(const std::string& key, const fs::path& path) {
    // "photos/" and "photos" are the same folder.
    const fs::path trimmed = path.has_filename() ? path : path.parent_path();
    const std::size_t folder = folder_number(trimmed);
    out_.named.push_back({.key = key, .folder = folder, .name = {}});
    for (const fs::path& file : files_below(trimmed)) add_file(folder, file.lexically_relative(trimmed));
  }

  void add_one(const std::string& key, const fs::path& path) {
    const std::size_t folder = folder_number(path.parent_path());
    out_.named.push_back({.key = key, .folder = folder, .name = path.filename()});
    add_file(folder, path.filename());
    // Class names of TFRecord shards stand beside them.
    const fs::path names = class_names_file(path).filename();
    if (fs::exists(path.parent_path() / names)) add_file(folder, names);
  }

  std::size_t folder_number(const fs::path& path) {
    const auto found = std::ranges::find(out_.folders, path);
    if (found != out_.folders.end()) return static_cast<std::size_t>(found - out_.folders.begin());
    out_.folders.push_back(path);
    return out_.folders.size() - 1;
  }

  // Sockets and links to folders, which readers pass over too, can't be carried.
  void add_file(std::size_t folder, const fs::path& name) {
    std::error_code fault;
    if (fs::is_regular_file(out_.folders[folder] / name, fault) && seen_.emplace(folder, name).second)
      out_.files.push_back({.folder = folder, .name = name});
  }

  DataFiles out_;
  std::set<std::pair<std::size_t, fs::path>> seen_;
};

}  // namespace

DataFiles data_files(const DataRequest& request) {
  Collector collector;
  if (!request.reader->reads_files) return {};
  const auto add = [&](const std::string& key, const std::vector<std::string>& named) {
    for (const fs::path& path : named_files({named.begin(), named.end()})) collector.add(key, path);
  };
  add("train", request.data.train);
  add("test", request.data.test);
  std::any options = request.reader_options;
  visit_text_lists(*request.reader, options, [&](std::string_view option, const std::vector<std::string>& value) {
    if (names_files(option)) add(std::string(option), value);
  });
  return collector.take();
}

void set_data_folders(Config& job, const std::vector<DataFiles::Named>& named, const std::vector<fs::path>& folders,
                      const std::string& origin) {
  std::map<std::string, std::vector<std::string>> lists;
  for (const DataFiles::Named& one : named) {
    const fs::path path = one.name.empty() ? folders.at(one.folder) : folders.at(one.folder) / one.name;
    lists[one.key].push_back(toml_quoted(path.string()));
  }
  for (const auto& [key, paths] : lists) job.set("data." + key, fmt::format("[{}]", fmt::join(paths, ", ")), origin);
}

}  // namespace trireme::data
