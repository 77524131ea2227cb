// SPDX-License-Identifier: Apache-2.0
// A text as a whole in memory: decompressed, and as UTF-8.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

class TextFile {
 public:
  // Plain, gzip or xz, UTF-8 or UTF-16; data_loss if it is no text.
  explicit TextFile(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  std::string_view text() const;

 private:
  std::string name_;
  std::vector<std::byte> bytes_;
  std::string decoded_;  // empty: bytes_ are the text
};

}  // namespace trireme::data
