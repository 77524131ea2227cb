// SPDX-License-Identifier: Apache-2.0
// What the user and the journal learn of a run's records that the disk refuses: once when that begins, once when all are written again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/observe/append_file.h"
#include "trireme/observe/journal.h"

namespace trireme::run {

// All calls may come from any thread.
class RecordWatch final : public observe::AppendWatch {
 public:
  struct Options {
    const Clock& clock;
    std::string host;                                  // this machine, as it calls itself
    std::function<void(const std::string& line)> say;  // on the thread that writes
  };
  explicit RecordWatch(Options options) : options_(std::move(options)) {}

  void on_refused(const std::filesystem::path& file, const Error& why) override;
  void on_lost(const std::filesystem::path& file, std::int64_t records) override;
  void on_written(const std::filesystem::path& file) override;

  bool is_behind() const;       // a file of the run lacks records
  std::string missing() const;  // which files, with their paths
  struct Record {
    std::string_view type;
    observe::Fields fields;
  };
  std::vector<Record> take_records();  // for the journal, since the last call

 private:
  std::string lost_text() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::set<std::string> refused_;             // files
  std::map<std::string, std::int64_t> lost_;  // records, by file, since the first refusal
  Seconds refused_since_{};
  std::vector<Record> records_;
};

}  // namespace trireme::run
