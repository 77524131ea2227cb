// SPDX-License-Identifier: Apache-2.0
// All runs of a folder, newest first; what was read of their journals is remembered between two programs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/report/folder/journal_scan.h"
#include "trireme/report/folder/run_entry.h"

namespace trireme::report {

// A directory that a training made: it has a journal or a configuration.
bool is_run(const std::filesystem::path& directory);

class RunFolder {
 public:
  // A folder of runs, or one run. not_found if it is neither there nor a directory. `cache` is the file that remembers; empty: none.
  explicit RunFolder(const std::filesystem::path& folder, std::filesystem::path cache = {});

  const std::filesystem::path& path() const { return folder_; }
  // As they are now, those of sub-folders too: a run's name is its path from the folder. Links are left out: `latest` is a run that is
  // there anyway.
  std::vector<RunEntry> look();
  // Writes what was read into the cache, if anything is new. A cache that can't be written is no error.
  void save();

 private:
  RunEntry entry_of(const std::filesystem::path& run);
  std::vector<std::filesystem::path> directories() const;
  void load();

  std::filesystem::path folder_;
  std::filesystem::path cache_;
  std::map<std::string, JournalScan> scans_;  // by directory
  bool is_changed_ = false;
};

// {"version": 1, "folder": ..., "entries": [...]} for programs and the page, in the order given.
std::string to_json(const std::filesystem::path& folder, const std::vector<RunEntry>& entries, Curves curves);

// What a user says of a run, kept in its directory; empty: nothing.
constexpr std::size_t kMaxNote = 1000;  // bytes
std::string note_of(const std::filesystem::path& run);
void write_note(const std::filesystem::path& run, std::string_view text);

}  // namespace trireme::report
