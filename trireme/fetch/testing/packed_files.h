// SPDX-License-Identifier: Apache-2.0
// For tests: archives and gzip files made in memory, and folders that go away.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::fetch {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trireme_fetch_XXXXXX").string();
    ensure(::mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Every byte follows from its place and `seed`, and no compression gets far with it.
inline std::string noise(std::size_t bytes, unsigned seed) {
  std::string text(bytes, '\0');
  std::uint32_t state = seed * 2654435761U + 1;
  for (char& letter : text) {
    state = state * 1664525U + 1013904223U;
    letter = static_cast<char>(state >> 24);
  }
  return text;
}

using Members = std::vector<std::pair<std::string, std::string>>;  // path, content

enum class Packing { gzip, tar_gzip, tar_xz, ar };

inline std::string pack(Packing packing, const Members& members) {
  const std::unique_ptr<archive, int (*)(archive*)> out(archive_write_new(), archive_write_free);
  if (packing == Packing::tar_xz) archive_write_add_filter_xz(out.get());
  if (packing == Packing::gzip || packing == Packing::tar_gzip) archive_write_add_filter_gzip(out.get());
  if (packing == Packing::gzip) archive_write_set_format_raw(out.get());
  if (packing == Packing::ar) archive_write_set_format_ar_svr4(out.get());
  if (packing == Packing::tar_gzip || packing == Packing::tar_xz) archive_write_set_format_pax_restricted(out.get());
  std::size_t space = 1 << 16;
  for (const auto& [path, content] : members) space += content.size() + content.size() / 8 + (1 << 12);
  std::string bytes(space, '\0');
  std::size_t used = 0;
  ensure(archive_write_open_memory(out.get(), bytes.data(), bytes.size(), &used) == ARCHIVE_OK, "memory can be written");
  for (const auto& [path, content] : members) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), path.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_write_header(out.get(), entry.get());
    archive_write_data(out.get(), content.data(), content.size());
  }
  archive_write_close(out.get());
  bytes.resize(used);
  return bytes;
}

inline std::string gzip(const std::string& content) { return pack(Packing::gzip, {{"x", content}}); }

}  // namespace trireme::fetch
