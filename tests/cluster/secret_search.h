// SPDX-License-Identifier: Apache-2.0
// Looks for secrets in everything that others can read: command lines, environments, files.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {

// How every private key of the curve P-256 begins, whatever it is: in PEM's base64 and in its bytes.
inline const std::vector<std::string> kMarks{"PRIVATE KEY", "job_key", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg",
                                             std::string("\x04\x6d\x30\x6b\x02\x01\x01\x04\x20", 9)};

// Where one of the marks stands: "cmdline of 123", or the name of a file.
class Search {
 public:
  explicit Search(std::vector<std::string> marks) : marks_(std::move(marks)) {}

  void look_at(const std::string& name, const std::string& text) {
    ++looked_at_;
    for (const std::string& mark : marks_)
      if (text.find(mark) != std::string::npos) found_.insert(name);
  }
  void look_at_processes() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string number = entry.path().filename();
      if (number.find_first_not_of("0123456789") != std::string::npos || number == std::to_string(::getpid())) continue;
      for (const char* file : {"cmdline", "environ"}) try {
          look_at(fmt::format("{} of {}", file, number), read_file(entry.path() / file));
        } catch (const Error&) {  // gone meanwhile
        }
    }
  }
  void look_at_files(const std::filesystem::path& folder) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
      if (file.is_regular_file()) look_at(file.path().string(), read_file(file.path()));
  }
  const std::set<std::string>& found() const { return found_; }
  int looked_at() const { return looked_at_; }

 private:
  std::vector<std::string> marks_;
  std::set<std::string> found_;
  int looked_at_ = 0;
};

}  // namespace trireme::tests
