// SPDX-License-Identifier: Apache-2.0
// Writers by name, and what all of them refuse.
#include "trireme/data/formats/writer_entry.h"

#include <algorithm>

#include "trireme/base/catalog_lookup.h"

namespace trireme::data {
namespace {

void check_choice(const WriterEntry& entry, std::string_view option, const std::string& value,
                  const std::vector<std::string_view>& choices) {
  if (std::ranges::find(choices, value) == choices.end())
    throw Error{invalid_argument,        "{} cannot be written with the {} '{}'; possible: {}", entry.name, option, value,
                fmt::join(choices, ", ")};
}

}  // namespace

const WriterEntry& find_writer(std::string_view name) { return find_entry(writers::catalog(), name, "writer"); }

std::vector<std::filesystem::path> write_set(const WriterEntry& entry, const Source& source, WriteRequest request) {
  if (request.encoding.empty()) request.encoding = entry.encodings.front();
  check_choice(entry, "compression", request.compression, entry.compressions);
  check_choice(entry, "encoding", request.encoding, entry.encodings);
  if (!entry.sharded && request.shards > 1) throw Error{invalid_argument, "{} has no shards; leave --shards out", entry.name};
  if (source.size() == 0) throw Error{invalid_argument, "there are no samples to write"};
  return entry.write(source, request);
}

std::string sample_bytes_of(const Source& source, std::int64_t index) {
  std::string bytes(source.format().sample_bytes(), '\0');
  source.read(index, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace trireme::data
