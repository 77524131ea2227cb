// SPDX-License-Identifier: Apache-2.0
// Lists the entries of a folder and the files below it, sorted.
#include "trireme/data/formats/folder.h"

#include <algorithm>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::data {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code fault;
  if (!fs::is_directory(folder, fault)) throw Error{not_found, "{}: there is no such folder", folder.string()};
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault))
    if (!entry->path().filename().native().starts_with('.')) entries.push_back(entry->path());
  if (fault) throw SystemError{unavailable, "{}: the folder cannot be listed: {}", folder.string(), fault.message()};
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::vector<fs::path> waiting = entries_of(folder);
  std::reverse(waiting.begin(), waiting.end());
  while (!waiting.empty()) {
    const fs::path next = std::move(waiting.back());
    waiting.pop_back();
    std::error_code fault;
    if (fs::symlink_status(next, fault).type() == fs::file_type::directory) {
      const std::vector<fs::path> inner = entries_of(next);
      waiting.insert(waiting.end(), inner.rbegin(), inner.rend());
    } else {
      files.push_back(next);
    }
  }
  return files;
}

bool has_extension(const fs::path& file, std::string_view extension) {
  std::string own = file.extension().string();
  std::transform(own.begin(), own.end(), own.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return own == extension;
}

}  // namespace trireme::data
