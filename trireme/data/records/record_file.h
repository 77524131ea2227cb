// SPDX-License-Identifier: Apache-2.0
// A TFRecord file: where its records lie, and their payloads with checked CRCs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/formats/decoder.h"
#include "trireme/data/formats/input_file.h"

namespace trireme::data {

struct RecordPlace {
  std::uint64_t offset = 0;  // of the payload, in the plain bytes
  std::uint64_t length = 0;
};

enum class DataCheck { checked, unchecked };

class RecordFile {
 public:
  // An uncompressed file is read record by record, as it may be larger than the memory; a compressed one is decompressed at once.
  // Without `compression` the content decides.
  explicit RecordFile(const std::filesystem::path& path, std::optional<Compression> compression = std::nullopt);

  std::string name() const { return file_.path().string(); }
  std::uint64_t size() const { return plain_ ? plain_->size() : file_.size(); }  // in plain bytes

  // The record that begins at byte `begin`. Its length is believed only if its CRC is right and the file goes on that long.
  RecordPlace place_at(std::uint64_t begin) const;
  static std::uint64_t end_of(const RecordPlace& place);

  // The payload, which may lie in `buffer`; nothing if its CRC is wrong.
  std::optional<std::string_view> payload(const RecordPlace& place, DataCheck check, std::string& buffer) const;

 private:
  std::string_view bytes_at(std::uint64_t offset, std::size_t count, std::string& buffer) const;

  InputFile file_;
  std::optional<std::vector<std::byte>> plain_;
};

// By the first bytes: a plain file begins with a length whose CRC is right, which no zlib or gzip header imitates.
Compression record_compression(const InputFile& file);
// Whether the length of a first record is there, with the right CRC.
bool begins_with_length(const InputFile& file);

}  // namespace trireme::data
