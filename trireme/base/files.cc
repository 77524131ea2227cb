// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files; a written file is synced and renamed into place.
#include "trireme/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "trireme/base/descriptor.h"
#include "trireme/base/error.h"
#include "trireme/base/rollback.h"

namespace trireme {
namespace {

constexpr std::size_t kLeastRoom = 4096;  // for files whose length the system doesn't say, e.g. pipes

ErrorCode code_of(int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
      return not_found;
    case EEXIST:
      return already_exists;
    case EACCES:
    case EPERM:
    case EROFS:
      return permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return resource_exhausted;
    default:
      return unavailable;
  }
}

Descriptor open_descriptor(const std::filesystem::path& path, int flags, std::string_view verb) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!file.is_open()) throw_system_error(errno, fmt::format("{} {}", verb, path.string()));
  return file;
}

int flags_of(OutputFile::Mode mode) {
  switch (mode) {
    case OutputFile::Mode::create:
      return O_EXCL;
    case OutputFile::Mode::replace:
      return O_TRUNC;
    case OutputFile::Mode::append:
      return O_APPEND;
  }
  return 0;
}

}  // namespace

void throw_system_error(int reason, std::string_view action) {
  throw SystemError{code_of(reason), "cannot {}: {}", action, std::generic_category().message(reason)};
}

std::string read_file(const std::filesystem::path& path, std::uintmax_t max_bytes) {
  const std::string action = fmt::format("read {}", path.string());
  const Descriptor file = open_descriptor(path, O_RDONLY, "read");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_system_error(errno, action);
  if (S_ISDIR(status.st_mode)) throw Error{not_found, "cannot read {}: it is a directory", path.string()};

  std::string content;
  std::size_t length = 0;
  for (;;) {
    if (std::max<std::uintmax_t>(static_cast<std::uintmax_t>(status.st_size), length) > max_bytes)
      throw Error{data_loss, "{} is longer than the {} bytes it may have", path.string(), max_bytes};
    // One byte more than the file is said to have, so that its end is seen without growing.
    if (length == content.size()) content.resize(std::max({static_cast<std::size_t>(status.st_size) + 1, 2 * length, kLeastRoom}));
    const ssize_t count = ::read(file.get(), content.data() + length, content.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(errno, action);
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  content.resize(length);
  return content;
}

OutputFile::OutputFile(const std::filesystem::path& path, Mode mode)
    : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags_of(mode), 0644)) {
  if (fd_ < 0) throw_system_error(errno, fmt::format("open {}", path_.string()));
}

OutputFile::~OutputFile() { ::close(fd_); }

void OutputFile::write(std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_system_error(errno, fmt::format("write {}", path_.string()));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::start_sync() const { ::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE); }

// Never tried again: after a failed fsync the kernel forgets what it could not write.
void OutputFile::sync() {
  if (::fsync(fd_) != 0) throw_system_error(errno, fmt::format("sync {}", path_.string()));
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw_system_error(error.value(), fmt::format("make the directory {}", path.string()));
}

void sync_directory(const std::filesystem::path& path) {
  const Descriptor directory = open_descriptor(path, O_RDONLY | O_DIRECTORY, "open");
  if (::fsync(directory.get()) != 0) throw_system_error(errno, fmt::format("sync {}", path.string()));
}

namespace {

void write_whole(const std::filesystem::path& path, std::string_view content, std::filesystem::perms permissions) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  make_directories(directory);
  const std::filesystem::path temporary = path.string() + ".tmp." + std::to_string(::getpid());
  Rollback half_written([&] { ::unlink(temporary.c_str()); });
  OutputFile file(temporary, OutputFile::Mode::replace);
  if (permissions != std::filesystem::perms::unknown) std::filesystem::permissions(temporary, permissions);
  file.write(content);
  file.sync();
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    throw_system_error(errno, fmt::format("rename {} to {}", temporary.string(), path.string()));
  half_written.keep();
  sync_directory(directory);
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_whole(path, content, std::filesystem::perms::unknown);
}

void write_secret_file(const std::filesystem::path& path, std::string_view content) {
  using std::filesystem::perms;
  write_whole(path, content, perms::owner_read | perms::owner_write);
}

}  // namespace trireme
