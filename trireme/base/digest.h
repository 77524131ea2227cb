// SPDX-License-Identifier: Apache-2.0
// Checksums of files and texts, as lower-case hexadecimal digits; message authentication and random bytes, raw.
#pragma once

#include <cstddef>
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

// 32 bytes that only those can make who know the key.
std::string hmac_sha256(std::string_view key, std::string_view message);
// In a time that does not depend on where they differ, so that a forger can't guess byte by byte.
bool equal_in_constant_time(std::string_view a, std::string_view b);
// From the operating system's source, fit for keys and nonces.
std::string random_bytes(std::size_t count);
// Overwrites a secret that is not needed any more, and empties it.
void wipe(std::string& secret);

}  // namespace trireme
