// SPDX-License-Identifier: Apache-2.0
// A file of records that grows: a record is in it whole or not at all, and what the disk refuses waits in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "trireme/base/descriptor.h"
#include "trireme/base/error.h"

namespace trireme::observe {

// Learns what becomes of files that the disk refuses. Called on the thread that writes, which may hold locks: it calls no file.
class AppendWatch {
 public:
  virtual ~AppendWatch() = default;
  virtual void on_refused(const std::filesystem::path& file, const Error& why) = 0;   // from now on records wait
  virtual void on_lost(const std::filesystem::path& file, std::int64_t records) = 0;  // too many waited, or the disk forgot them
  virtual void on_written(const std::filesystem::path& file) = 0;                     // all that waited
};

// Not for several threads at once, but for is_behind().
class AppendFile {
 public:
  enum class Mode { create, append };  // create: it must not be there yet
  enum class Loss { early, late };     // which records are given up first when too many wait

  // Without a watch, failures are thrown, and what could not be written is dropped. With one nothing is thrown.
  AppendFile(std::filesystem::path path, Mode mode, AppendWatch* watch = nullptr);

  const std::filesystem::path& path() const { return path_; }
  // `records` are whole. While others wait it waits behind them.
  void append(std::string_view records, std::int64_t count = 1, Loss loss = Loss::early);
  void retry();  // to write what waits
  void sync();   // to the disk, with what waits
  bool is_behind() const { return is_behind_; }

 private:
  void wait(std::string_view records, std::int64_t count, Loss loss);
  void fail(const Error& why);
  void open();
  void write_whole(std::string_view bytes);
  [[noreturn]] void fail_write(int reason);
  void cut_torn();
  void sync_file();

  std::filesystem::path path_;
  Mode mode_;
  AppendWatch* watch_;
  Descriptor file_;
  std::int64_t size_ = 0;  // of whole records
  bool is_torn_ = false;   // bytes of a record that failed follow them
  bool has_lost_sync_ = false;
  std::int64_t unsynced_ = 0;  // records
  std::string waiting_;
  std::atomic<bool> is_behind_{false};
};

}  // namespace trireme::observe
