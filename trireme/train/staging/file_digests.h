// SPDX-License-Identifier: Apache-2.0
// SHA-256 of files, remembered for as long as a file stays as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace trireme::train {

// What shows, without reading it, whether a file is still the same.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t modified = 0;  // nanoseconds
  std::uint64_t size = 0;

  auto operator<=>(const FileIdentity&) const = default;
};
FileIdentity identity_of(const std::filesystem::path& path);  // throws not_found

// Two starts of this machine differ in it; processes of one machine don't.
std::string boot_of_machine();

// All calls may come from any thread.
class FileDigests {
 public:
  // `memory` is the file that remembers between runs; empty: none. One that can't be read is forgotten.
  explicit FileDigests(std::filesystem::path memory = {});

  std::string sha256(const std::filesystem::path& path);
  void add(const std::filesystem::path& path, const std::string& digest);  // known from elsewhere
  void save();

 private:
  std::filesystem::path memory_;
  std::mutex mutex_;
  std::map<FileIdentity, std::string> known_;
  bool changed_ = false;
};

}  // namespace trireme::train
