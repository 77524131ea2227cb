// SPDX-License-Identifier: Apache-2.0
// The folder of one set: its verified files, the stamps that say so, and what is still on its way.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trireme/base/file_lock.h"
#include "trireme/fetch/progress.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch {

// Held by the process that writes into a set's folder; others wait for it.
class SetLock {
 public:
  SetLock(const std::filesystem::path& folder, Progress& progress);

 private:
  FileLock lock_;
};

class SetFolder {
 public:
  explicit SetFolder(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path path_of(const SetFile& file) const { return path_ / file.name; }
  std::filesystem::path partial() const { return path_ / ".partial"; }  // downloads and what is being unpacked

  // Verified before and not touched since.
  bool stamped(const SetFile& file) const;
  // Stamped, or verified now.
  bool holds(const SetFile& file) const;

  // Verifies `found`, which is the file or (by its name) its .gz, and puts it in its place. Throws data_loss if it is not the one.
  void accept(const SetFile& file, const std::filesystem::path& found);
  void stamp(const SetFile& file);

 private:
  struct Stamp {
    std::int64_t bytes = 0;
    std::int64_t changed = 0;  // modification time, nanoseconds
    std::string md5;
    bool operator==(const Stamp&) const = default;
  };
  void read_stamps();
  void write_stamps() const;

  std::filesystem::path path_;
  std::map<std::string, Stamp, std::less<>> stamps_;
};

}  // namespace trireme::fetch
