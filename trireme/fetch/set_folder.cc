// SPDX-License-Identifier: Apache-2.0
// Verified files, their stamps and the lock.
#include "trireme/fetch/set_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/fetch/archive.h"

namespace trireme::fetch {
namespace {

constexpr Seconds kMaxWait{3600};

std::int64_t changed_at(const std::filesystem::path& path) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::filesystem::last_write_time(path).time_since_epoch()).count();
}

void require_digest(const std::filesystem::path& path, std::string_view expected, std::string_view name) {
  const std::string found = digest_of_file(Digest::Kind::md5, path);
  if (found != expected) throw Error{data_loss, "{} has the MD5 {}, not {}", name, found, expected};
}

// A rename may reach the disk before the content does.
void sync(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int fault = errno;
  if (fd >= 0) ::close(fd);
  if (!synced) throw Error{unavailable, "cannot sync {}: {}", path.string(), std::strerror(fault)};
}

// Whether `file` has the checksum and size it must have. Throws data_loss if not.
void verify_standard_file(const SetFile& file, const std::filesystem::path& path) {
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  if (bytes != file.bytes) throw Error{data_loss, "{} has {} bytes, not {}", file.name, bytes, file.bytes};
  if (!file.md5.empty()) require_digest(path, file.md5, file.name);
}

void verify_gzip_file(const SetFile& file, const std::filesystem::path& path) {
  if (!file.gzip_md5.empty()) require_digest(path, file.gzip_md5, fmt::format("{}.gz", file.name));
}

}  // namespace

SetLock::SetLock(const std::filesystem::path& folder, Progress& progress) : lock_(folder / ".lock") {
  if (!lock_.lock_within(kMaxWait, [&] { progress.waiting(); }))
    throw Error{unavailable, "another fetch holds {} for an hour; end it and try again", (folder / ".lock").string()};
}

SetFolder::SetFolder(std::filesystem::path path) : path_(std::move(path)) { read_stamps(); }

bool SetFolder::stamped(const SetFile& file) const {
  const auto found = stamps_.find(file.name);
  const std::filesystem::path path = path_of(file);
  if (found == stamps_.end() || !std::filesystem::is_regular_file(path)) return false;
  // A stamp from before the set's checksum was corrected counts no more.
  if (!file.md5.empty() && found->second.md5 != file.md5) return false;
  return found->second.bytes == static_cast<std::int64_t>(std::filesystem::file_size(path)) && found->second.changed == changed_at(path);
}

bool SetFolder::holds(const SetFile& file) const {
  if (stamped(file)) return true;
  const std::filesystem::path path = path_of(file);
  if (!std::filesystem::is_regular_file(path) || static_cast<std::int64_t>(std::filesystem::file_size(path)) != file.bytes) return false;
  const auto known = stamps_.find(file.name);
  const std::string expected = !file.md5.empty() ? std::string(file.md5) : known != stamps_.end() ? known->second.md5 : "";
  return !expected.empty() && digest_of_file(Digest::Kind::md5, path) == expected;
}

void SetFolder::accept(const SetFile& file, const std::filesystem::path& found) {
  std::filesystem::create_directories(partial());
  const std::filesystem::path arriving = partial() / fmt::format("{}.arriving", file.name);
  if (found.extension() == ".gz") {
    if (file.md5.empty()) verify_gzip_file(file, found);
    decompress(found, arriving, file.bytes);
  } else {
    if (file.md5.empty()) throw Error{data_loss, "{0}: only the checksum of {0}.gz is known; give that file", file.name};
    std::filesystem::copy_file(found, arriving, std::filesystem::copy_options::overwrite_existing);
  }
  verify_standard_file(file, arriving);
  sync(arriving);
  std::filesystem::rename(arriving, path_of(file));
  stamp(file);
}

void SetFolder::stamp(const SetFile& file) {
  const std::filesystem::path path = path_of(file);
  const std::string md5 = file.md5.empty() ? digest_of_file(Digest::Kind::md5, path) : std::string(file.md5);
  stamps_[std::string(file.name)] = {.bytes = file.bytes, .changed = changed_at(path), .md5 = md5};
  write_stamps();
}

// A line a file: name, bytes, time, MD5. What cannot be read is as if it were not there: the file is verified again.
void SetFolder::read_stamps() {
  if (!std::filesystem::is_regular_file(path_ / ".verified")) return;
  std::istringstream lines(read_file(path_ / ".verified"));
  std::string name;
  Stamp stamp;
  while (lines >> name >> stamp.bytes >> stamp.changed >> stamp.md5) stamps_[name] = stamp;
}

void SetFolder::write_stamps() const {
  std::string text;
  for (const auto& [name, stamp] : stamps_) text += fmt::format("{} {} {} {}\n", name, stamp.bytes, stamp.changed, stamp.md5);
  write_file_atomically(path_ / ".verified", text);
}

}  // namespace trireme::fetch
