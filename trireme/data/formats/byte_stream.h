// SPDX-License-Identifier: Apache-2.0
// The bytes of a file in their order, decompressed on the way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/formats/decoder.h"
#include "trireme/data/formats/input_file.h"

namespace trireme::data {

// Damage is thrown as data_loss, naming the file, the place, what was expected and what was found.
class ByteStream {
 public:
  explicit ByteStream(const std::filesystem::path& path);  // gzip and xz are recognised by the content
  ByteStream(const std::filesystem::path& path, Compression compression);

  std::string name() const { return file_.path().string(); }
  Compression compression() const { return compression_; }
  std::uint64_t position() const { return position_; }  // in the plain bytes

  // The number of bytes read: fewer than asked for only at the end, and then the checksum of compressed data was right.
  std::size_t read_some(std::span<std::byte> out);
  // Exactly as many as asked for; `what` says in a message what they are.
  void read(std::span<std::byte> out, std::string_view what);
  // Appends exactly `count` bytes. Memory grows only as bytes are seen to be there, so `count` may come from the file.
  void append_to(std::vector<std::byte>& out, std::uint64_t count, std::string_view what);
  // All that is left.
  std::vector<std::byte> read_rest();
  // Refuses bytes after the end of the format.
  void expect_end();

 private:
  void refill();
  std::size_t decode(std::span<std::byte> out);
  [[noreturn]] void too_short(std::uint64_t begin, std::uint64_t expected, std::uint64_t found, std::string_view what) const;

  InputFile file_;
  Compression compression_;
  std::uint64_t position_ = 0;

  // Only for compressed files.
  std::unique_ptr<Decoder> decoder_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> pending_;  // of buffer_, not yet decoded
  std::uint64_t file_position_ = 0;     // after buffer_
  bool finished_ = false;
};

std::string_view as_text(std::span<const std::byte> bytes);
std::span<const std::byte> as_bytes(std::string_view text);

}  // namespace trireme::data
