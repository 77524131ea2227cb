// SPDX-License-Identifier: Apache-2.0
// Reads of a journal only what a list of runs needs, and the next time only what was appended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "trireme/base/json.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/report/folder/run_entry.h"

namespace trireme::report {

// Steps are most of a journal's lines; but for the last one they are not parsed.
class JournalScan {
 public:
  // What was appended to the file since the last call. A file that is another one now is read from its beginning. False: nothing is new.
  bool look(const std::filesystem::path& journal);
  const RunSummary& summary() const { return summary_; }

  Json to_json() const;
  static JournalScan from_json(const Json& json);  // throws Json::exception

 private:
  // Which file it was, and how much of it is read.
  struct Place {
    std::uint64_t inode = 0, size = 0, offset = 0;
    std::int64_t changed = 0;  // nanoseconds
    friend bool operator==(const Place&, const Place&) = default;
  };

  static Place place_of(const std::filesystem::path& journal);
  void take(std::string_view line);
  void take_epoch(const observe::Record& record);
  void take_measures(const EpochScore& score);
  void forget_from(double epoch);

  Place place_;
  RunSummary summary_;
};

}  // namespace trireme::report
