// SPDX-License-Identifier: Apache-2.0
// Written through zlib or straight, synced, renamed.
#include "trireme/data/formats/output_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::data {
namespace {

constexpr std::size_t kBuffer = 1 << 16;

[[noreturn]] void fail(std::string_view verb, const std::filesystem::path& path) {
  throw SystemError{unavailable, "cannot {} {}: {}", verb, path.string(), std::strerror(errno)};
}

void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("open", folder);
  const int result = ::fsync(fd);
  ::close(fd);
  if (result != 0) fail("sync", folder);
}

}  // namespace

struct OutputFile::State {
  State(std::filesystem::path to, Compression kind)
      : path(std::move(to)), temporary(path.string() + ".tmp." + std::to_string(::getpid())), compression(kind) {
    ensure(kind != Compression::xz, "no file is written as xz");
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) fail("create", temporary);
    if (kind == Compression::none) return;
    const int window = kind == Compression::gzip ? MAX_WBITS + 16 : MAX_WBITS;
    ensure(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
  }
  ~State() {
    if (compression != Compression::none) deflateEnd(&stream);
    if (fd >= 0) ::close(fd);
    if (!published) ::unlink(temporary.c_str());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void write(std::string_view bytes) {
    waiting += bytes;
    if (waiting.size() >= kBuffer) flush();
  }

  void flush() {
    if (compression == Compression::none) {
      store(waiting);
    } else {
      deflate_all(waiting, Z_NO_FLUSH);
    }
    waiting.clear();
  }

  void deflate_all(std::string_view bytes, int mode) {
    std::string out(kBuffer, '\0');
    ensure(bytes.size() <= std::numeric_limits<uInt>::max(), "pieces that zlib can count");
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      deflate(&stream, mode);
      store(std::string_view(out).substr(0, out.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  }

  void store(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write", temporary);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void close() {
    flush();
    if (compression != Compression::none) deflate_all({}, Z_FINISH);
    if (::fsync(fd) != 0) fail("sync", temporary);
    ::close(std::exchange(fd, -1));
  }

  std::filesystem::path path;
  std::filesystem::path temporary;
  Compression compression;
  z_stream stream{};
  std::string waiting;
  int fd = -1;
  bool published = false;
};

OutputFile::OutputFile(const std::filesystem::path& path, Compression compression) : state_(std::make_unique<State>(path, compression)) {}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

void OutputFile::write(std::string_view bytes) { state_->write(bytes); }

void OutputFile::close() { state_->close(); }

void OutputFile::publish() {
  ensure(state_->fd < 0, "a file is closed before it is published");
  if (std::rename(state_->temporary.c_str(), state_->path.c_str()) != 0) fail("rename to", state_->path);
  state_->published = true;
  sync_folder(state_->path.has_parent_path() ? state_->path.parent_path() : ".");
}

}  // namespace trireme::data
