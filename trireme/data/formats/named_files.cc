// SPDX-License-Identifier: Apache-2.0
// Walks down a pattern part by part.
#include "trireme/data/formats/named_files.h"

#include <fnmatch.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/data/formats/folder.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const fs::path& path) { return path.native().find_first_of("*?[") != std::string::npos; }

bool is_folder(const fs::path& path) {
  std::error_code fault;
  return fs::is_directory(path, fault);
}

// The folder and all folders below it; links to folders are not followed, so that no loop is endless.
void add_folders(const fs::path& folder, std::vector<fs::path>& out) {
  out.push_back(folder);
  for (const fs::path& entry : entries_of(folder.empty() ? "." : folder)) {
    std::error_code fault;
    if (fs::symlink_status(entry, fault).type() == fs::file_type::directory) add_folders(folder / entry.filename(), out);
  }
}

void add_matches(const fs::path& folder, const std::string& pattern, std::vector<fs::path>& out) {
  for (const fs::path& entry : entries_of(folder.empty() ? "." : folder)) {
    const fs::path name = entry.filename();
    if (fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) out.push_back(folder / name);
  }
}

// What `part` of a pattern, its next one, makes of what the parts before it match.
std::vector<fs::path> step(const std::vector<fs::path>& before, const fs::path& part) {
  std::vector<fs::path> after;
  for (const fs::path& path : before) {
    if (!is_pattern(part)) {
      std::error_code fault;
      if (fs::exists(path / part, fault)) after.push_back(path / part);
    } else if (is_folder(path.empty() ? "." : path)) {
      if (part == "**")
        add_folders(path, after);
      else
        add_matches(path, part.string(), after);
    }
  }
  return after;
}

std::vector<fs::path> matches(const fs::path& pattern) {
  std::vector<fs::path> found{fs::path()};
  for (const fs::path& part : pattern) found = step(found, part);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty()) throw Error{not_found, "{}: no file or folder matches this pattern", pattern.string()};
  return found;
}

}  // namespace

std::vector<fs::path> named_files(const std::vector<fs::path>& named) {
  std::vector<fs::path> files;
  for (const fs::path& path : named) {
    std::error_code fault;
    if (!is_pattern(path) || fs::exists(path, fault)) {
      files.push_back(path);
      continue;
    }
    const std::vector<fs::path> found = matches(path);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace trireme::data
