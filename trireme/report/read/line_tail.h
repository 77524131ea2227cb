// SPDX-License-Identifier: Apache-2.0
// The lines of a growing file, each once: what was appended since the last look.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace trireme::report {

class LineTail {
 public:
  // What stands before `offset` was read by another one.
  explicit LineTail(std::filesystem::path path, std::uintmax_t offset = 0) : path_(std::move(path)), offset_(offset) {}

  // Whole lines without their ends; the rest waits for the next look. A file that is not there has none. If it got shorter it is
  // another file: `restart` is called and it is read from its beginning.
  void look(const std::function<void(std::string_view line)>& take, const std::function<void()>& restart = {});

  const std::filesystem::path& path() const { return path_; }
  std::uintmax_t offset() const { return offset_; }

 private:
  std::filesystem::path path_;
  std::uintmax_t offset_;
};

}  // namespace trireme::report
