// SPDX-License-Identifier: Apache-2.0
// Versions of a run's files: records and tables of the version before are read under today's names.
#pragma once

#include <cstdint>
#include <string_view>

#include "trireme/observe/journal_reader.h"

namespace trireme::observe {

// In each `run` and `resume` record, as `journal`; 1 had none. docs/journal.md lists what changed.
inline constexpr std::int64_t kJournalVersion = 2;

// Of one file, from its first record on.
class JournalUpgrade {
 public:
  // Renames what an older version called otherwise. failed_precondition if the record begins a part of a newer version.
  void apply(Record& record);

 private:
  std::int64_t version_ = kJournalVersion;  // files without a `run` record (telemetry, logs) are distinguished by their names
};

// Of a column of steps/NODE.csv; itself if it has not changed.
std::string_view current_name(std::string_view column);

}  // namespace trireme::observe
