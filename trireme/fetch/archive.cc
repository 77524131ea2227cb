// SPDX-License-Identifier: Apache-2.0
// Reads members of archives by name through libarchive, never by path.
#include "trireme/fetch/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string_view>

#include "trireme/base/error.h"

namespace trireme::fetch {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr std::int64_t kLargestArchive = std::int64_t{4} << 30;  // unpacked; skipping a member decompresses it too

// An archive that is read once, from its beginning to its end.
class Reader {
 public:
  enum class Format { archive, single_file };

  Reader(const std::filesystem::path& path, Format format) : name_(path.string()) {
    support(format);
    check(archive_read_open_filename(handle_.get(), path.c_str(), kBlock));
  }
  // The current member of `outer` is itself an archive: a Debian package is an ar with a tar in it.
  Reader(Reader& outer, std::string_view member) : name_(outer.name_ + ", " + std::string(member)), outer_(&outer) {
    support(Format::archive);
    check(archive_read_open(handle_.get(), this, nullptr, read_outer, nullptr));
  }

  // The path of the next regular file; null at the end.
  const char* next() {
    for (;;) {
      archive_entry* entry = nullptr;
      const int result = archive_read_next_header(handle_.get(), &entry);
      if (result == ARCHIVE_EOF) return nullptr;
      check(result);
      if (archive_filter_bytes(handle_.get(), 0) > kLargestArchive)
        throw Error{data_loss, "{}: it unpacks to more than {} bytes", name_, kLargestArchive};
      const char* path = archive_entry_pathname(entry);
      if (path != nullptr && (archive_entry_filetype(entry) == AE_IFREG || archive_entry_filetype(entry) == 0)) return path;
    }
  }

  void write_member(const std::filesystem::path& path, std::int64_t limit) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    std::array<char, kBlock> block;
    std::int64_t written = 0;
    while (const la_ssize_t count = archive_read_data(handle_.get(), block.data(), block.size())) {
      if (count < 0) check(static_cast<int>(count));
      written += count;
      if (written > limit) throw Error{data_loss, "{}: {} is longer than {} bytes", name_, path.filename().string(), limit};
      out.write(block.data(), count);
    }
    if (!out.flush()) throw Error{unavailable, "cannot write {}; is the disk full?", path.string()};
  }

 private:
  struct Free {
    void operator()(archive* handle) const { archive_read_free(handle); }
  };

  static la_ssize_t read_outer(archive* inner, void* user, const void** bytes) {
    auto& reader = *static_cast<Reader*>(user);
    *bytes = reader.block_.data();
    const la_ssize_t count = archive_read_data(reader.outer_->handle_.get(), reader.block_.data(), reader.block_.size());
    if (count < 0) archive_set_error(inner, EIO, "%s", archive_error_string(reader.outer_->handle_.get()));
    return count < 0 ? ARCHIVE_FATAL : count;
  }

  void support(Format format) {
    archive_read_support_filter_gzip(handle_.get());
    archive_read_support_filter_bzip2(handle_.get());
    archive_read_support_filter_xz(handle_.get());
    archive_read_support_filter_zstd(handle_.get());
    if (format == Format::single_file) {
      archive_read_support_format_raw(handle_.get());
      return;
    }
    archive_read_support_format_tar(handle_.get());
    archive_read_support_format_zip(handle_.get());
    archive_read_support_format_ar(handle_.get());
  }

  void check(int result) const {
    if (result >= ARCHIVE_WARN) return;
    const char* why = archive_error_string(handle_.get());
    throw Error{data_loss, "{}: {}", name_, why == nullptr ? "not an archive that can be read" : why};
  }

  std::string name_;
  Reader* outer_ = nullptr;
  std::array<char, kBlock> block_{};
  std::unique_ptr<archive, Free> handle_{archive_read_new()};
};

bool is_package_content(std::string_view member) { return member.starts_with("data.tar"); }

struct Extraction {
  const std::vector<Member>& wanted;
  const std::filesystem::path& folder;
  std::vector<std::string> found;

  void run(Reader& reader, bool within_package) {
    while (const char* path = reader.next()) {
      const std::string_view whole = path;
      const std::string_view name = whole.substr(whole.rfind('/') + 1);
      const auto match = std::ranges::find(wanted, name, &Member::name);
      if (match != wanted.end()) {
        reader.write_member(folder / match->name, match->limit);
        found.push_back(match->name);
      } else if (!within_package && is_package_content(whole)) {
        Reader content(reader, whole);
        run(content, true);
      }
    }
  }
};

}  // namespace

std::vector<std::string> extract_members(const std::filesystem::path& archive, const std::vector<Member>& wanted,
                                         const std::filesystem::path& folder) {
  Reader reader(archive, Reader::Format::archive);
  Extraction extraction{.wanted = wanted, .folder = folder};
  extraction.run(reader, false);
  return extraction.found;
}

void decompress(const std::filesystem::path& packed, const std::filesystem::path& plain, std::int64_t limit) {
  Reader reader(packed, Reader::Format::single_file);
  if (reader.next() == nullptr) throw Error{data_loss, "{}: it is empty", packed.string()};
  reader.write_member(plain, limit);
}

void unpack_standard_files(const std::filesystem::path& archive, const std::vector<SetFile>& wanted, const std::filesystem::path& folder) {
  std::vector<Member> members;
  for (const SetFile& file : wanted) {
    members.push_back({std::string(file.name), file.bytes});
    members.push_back({std::string(file.name) + ".gz", file.bytes + (1 << 16)});
  }
  extract_members(archive, members, folder);
}

}  // namespace trireme::fetch
