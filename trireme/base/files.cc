// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#include "trireme/base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "trireme/base/error.h"

namespace trireme {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : path_(path.string()), fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (fd_ < 0) fail("open");
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(fd_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void sync() {
    if (::fsync(fd_) != 0) fail("sync");
  }

 private:
  [[noreturn]] void fail(std::string_view verb) const { throw Error{unavailable, "cannot {} {}: {}", verb, path_, std::strerror(errno)}; }

  std::string path_;
  int fd_;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw Error{not_found, "cannot read {}: {}", path.string(), std::strerror(errno == 0 ? EISDIR : errno)};
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  std::filesystem::create_directories(directory);
  const std::filesystem::path temporary = path.string() + ".tmp." + std::to_string(::getpid());
  try {
    Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    file.write(content);
    file.sync();
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    throw Error{unavailable, "cannot rename {} to {}: {}", temporary.string(), path.string(), std::strerror(errno)};
  Descriptor(directory, O_RDONLY | O_DIRECTORY).sync();
}

}  // namespace trireme
