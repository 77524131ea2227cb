// SPDX-License-Identifier: Apache-2.0
// Whole files in and out; a written file is there completely or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "trireme/base/error.h"

namespace trireme {

// A system call of this process failed. Whatever its code, no peer is to blame: a node that throws it reports itself.
class SystemError : public Error {
 public:
  using Error::Error;
};

// A file longer than `max_bytes` is refused before any of it is read.
std::string read_file(const std::filesystem::path& path, std::uintmax_t max_bytes = std::numeric_limits<std::uintmax_t>::max());

// Temporary name, fsync, rename, fsync of the directory: a reader or a crash never sees half a file.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// The same, for something that only the owner may read.
void write_secret_file(const std::filesystem::path& path, std::string_view content);

// A file that is being written. Every failure is thrown with the path and the system's reason.
class OutputFile {
 public:
  enum class Mode { create, replace, append };  // create: it must not be there yet, else already_exists

  OutputFile(const std::filesystem::path& path, Mode mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view content);
  void start_sync() const;  // makes the disk begin with what was written so far; a hint, so that sync() waits less
  void sync();              // to the disk

 private:
  std::filesystem::path path_;
  int fd_;
};

void make_directories(const std::filesystem::path& path);
// Makes new and renamed entries of a directory outlive a power failure.
void sync_directory(const std::filesystem::path& path);

// SystemError "cannot <action>: <reason>" with the code that fits `reason`, a value of errno; a full disk is resource_exhausted.
[[noreturn]] void throw_system_error(int reason, std::string_view action);

}  // namespace trireme
