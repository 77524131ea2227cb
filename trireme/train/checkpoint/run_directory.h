// SPDX-License-Identifier: Apache-2.0
// Everything a training leaves: <base>/<job>-<YYYYMMDD-HHMMSS>/ with configuration, journal, events and checkpoints.
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>

#include "trireme/base/file_lock.h"

namespace trireme::train {

class RunDirectory {
 public:
  // A new directory, named after the job file's stem and the time in UTC; -2, -3 ... is appended if the name is taken. Then
  // `<base>/latest` points to it.
  static RunDirectory create(const std::filesystem::path& base, std::string_view job_stem, std::chrono::system_clock::time_point now);
  // An existing one, or a link to it such as `<base>/latest`; not_found says what is missing.
  static RunDirectory open(const std::filesystem::path& path);
  // Removes it with everything in it, and the link `<base>/latest` if it points to it; failed_precondition names the process that has it.
  static void remove(const std::filesystem::path& run);
  // Makes `latest`, beside it, point to it.
  static void link_latest(const std::filesystem::path& run);

  // The process that writes into it holds its lock until this object ends; failed_precondition names the process that has it. The system
  // releases the lock of a process that dies.
  void lock();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path journal() const { return path_ / "journal.jsonl"; }
  std::filesystem::path events() const { return path_ / "tensorboard"; }
  std::filesystem::path step_events() const { return events() / "steps"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path algorithms() const { return path_ / "algorithms.json"; }
  std::filesystem::path lock_file() const { return path_ / "lock"; }

 private:
  explicit RunDirectory(std::filesystem::path path);

  std::filesystem::path path_;
  FileLock lock_;
};

}  // namespace trireme::train
