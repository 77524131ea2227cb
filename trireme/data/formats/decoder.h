// SPDX-License-Identifier: Apache-2.0
// Compressed bytes in, plain bytes out, piece by piece: zlib's and liblzma's decoders behind one face.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trireme::data {

enum class Compression { none, gzip, zlib, xz };

std::string_view name_of(Compression compression);

// What the first bytes of a file say; only gzip and xz have a mark that can't be mistaken.
Compression marked_compression(std::span<const std::byte> opening);

class Decoder {
 public:
  enum class State { unfinished, finished };

  virtual ~Decoder() = default;

  // Takes from the front of `in` and fills the front of `out`, shortening both. `last`: the file has no bytes after `in`.
  // Finished once the compressed data and its checksum have ended where the file ends. Throws std::runtime_error with the reason
  // if the data are damaged, go on after their end, or end too early.
  virtual State decode(std::span<const std::byte>& in, std::span<std::byte>& out, bool last) = 0;

  static std::unique_ptr<Decoder> make(Compression compression);

 protected:
  Decoder() = default;
  Decoder(const Decoder&) = default;
  Decoder& operator=(const Decoder&) = default;
};

}  // namespace trireme::data
