// SPDX-License-Identifier: Apache-2.0
// Checksums of files and texts, as lower-case hexadecimal digits.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace trireme {

class Digest {
 public:
  enum class Kind { md5, sha256, sha512 };

  explicit Digest(Kind kind);
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  void add(std::string_view bytes);
  std::string hex();  // ends the digest

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string digest_of(Digest::Kind kind, std::string_view bytes);
std::string digest_of_file(Digest::Kind kind, const std::filesystem::path& path);

}  // namespace trireme
