// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library (LD_PRELOAD): one read of a TFRecord shard fails as on a bad disk, in one process of a test.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

bool is_shard(int file) {
  std::array<char, 32> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  std::array<char, 4096> name{};
  const ssize_t length = ::readlink(link.data(), name.data(), name.size());
  return length > 0 && std::string_view(name.data(), static_cast<std::size_t>(length)).find("-of-00001") != std::string_view::npos;
}

// The test says when, by making FOLDER/fail; who comes first obeys, once.
bool obeys(int file) {
  const char* const folder = std::getenv("FAILING_READS");
  if (folder == nullptr || ::access((std::string(folder) + "/fail").c_str(), F_OK) != 0 || !is_shard(file)) return false;
  const int mark = ::open((std::string(folder) + "/failed").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (mark >= 0) ::close(mark);
  return mark >= 0;
}

ssize_t read_or_fail(int file, void* to, std::size_t count, off_t offset) {
  using Read = ssize_t (*)(int, void*, std::size_t, off_t);
  static const auto kReal = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "pread64"));
  if (!obeys(file)) return kReal(file, to, count, offset);
  errno = EIO;
  return -1;
}

}  // namespace

// The C library's own names of the parameters are not for us.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {
ssize_t pread(int file, void* to, std::size_t count, off_t offset) { return read_or_fail(file, to, count, offset); }
ssize_t pread64(int file, void* to, std::size_t count, off64_t offset) { return read_or_fail(file, to, count, offset); }
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
