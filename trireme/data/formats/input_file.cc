// SPDX-License-Identifier: Apache-2.0
// Reads with pread, which moves no shared position.
#include "trireme/data/formats/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::data {

InputFile::InputFile(const std::filesystem::path& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) throw SystemError{errno == ENOENT ? not_found : unavailable, "cannot open {}: {}", path.string(), std::strerror(errno)};
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd_);
    if (S_ISDIR(status.st_mode))
      throw Error{not_found, "cannot read {}: it is a folder; name its files, e.g. {}", path.string(), (path / "*").string()};
    throw Error{not_found, "cannot read {}: it is no regular file", path.string()};
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

InputFile::InputFile(InputFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw SystemError{unavailable, "cannot read {} at byte {}: {}", path_.string(), offset + done, std::strerror(errno)};
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace trireme::data
