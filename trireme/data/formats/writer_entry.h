// SPDX-License-Identifier: Apache-2.0
// A writer: each file of writers/ writes sets in one format, for the reader of the same name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

struct WriteRequest {
  std::filesystem::path folder;  // exists
  Part part = Part::train;       // which names the files get
  std::int64_t shards = 0;       // 0: as many as the writer thinks right
  std::string compression = "none";
  std::string encoding;  // of a sample's bytes; empty: the writer's first
};

struct WriterEntry {
  std::string_view name;
  std::string_view summary;
  bool sharded = false;  // may it write several files?
  std::vector<std::string_view> compressions{"none"};
  std::vector<std::string_view> encodings{"raw"};

  // Throws invalid_argument if the format has no room for such samples. Returns the files; those that one reader takes, in its order.
  std::vector<std::filesystem::path> (*write)(const Source& source, const WriteRequest& request) = nullptr;
};

namespace writers {
const std::vector<WriterEntry>& catalog();
}

const WriterEntry& find_writer(std::string_view name);

// Calls the writer if it can do what is requested.
std::vector<std::filesystem::path> write_set(const WriterEntry& entry, const Source& source, WriteRequest request);

// The stored bytes of sample `index`.
std::string sample_bytes_of(const Source& source, std::int64_t index);

}  // namespace trireme::data
