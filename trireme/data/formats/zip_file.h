// SPDX-License-Identifier: Apache-2.0
// A zip archive whose members are stored or deflated, as numpy writes .npz files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/data/formats/input_file.h"

namespace trireme::data {

class ZipFile {
 public:
  struct Member {
    std::string name;
    std::uint16_t method = 0;  // 0: stored, 8: deflated
    std::uint32_t crc = 0;
    std::uint64_t packed = 0;  // bytes in the file
    std::uint64_t size = 0;
    std::uint64_t header = 0;  // where its local header begins
  };

  // Reads the directory at the archive's end; data_loss if it isn't there or doesn't fit the file.
  explicit ZipFile(const std::filesystem::path& path);

  std::string name() const { return file_.path().string(); }
  const std::vector<Member>& members() const { return members_; }

  // The member's bytes, with the right checksum. Memory grows only as bytes are seen to be there.
  std::vector<std::byte> read(const Member& member) const;

 private:
  struct Directory {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t members = 0;
  };
  std::string bytes_at(std::uint64_t offset, std::uint64_t count, std::string_view what) const;
  Directory find_directory() const;
  void read_directory(const Directory& directory);
  std::uint64_t data_of(const Member& member) const;

  InputFile file_;
  std::vector<Member> members_;
};

// For examples and tests.
std::string zip_archive(const std::vector<std::pair<std::string, std::string>>& members, bool deflated);

}  // namespace trireme::data
