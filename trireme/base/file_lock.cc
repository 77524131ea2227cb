// SPDX-License-Identifier: Apache-2.0
// flock with a bound.
#include "trireme/base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme {
namespace {

constexpr Seconds kFirstPause{0.02};
constexpr Seconds kMaxPause{0.2};

}  // namespace

FileLock::FileLock(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)), fault_(file_.is_open() ? 0 : errno) {}

bool FileLock::try_lock() {
  ensure(!path_.empty() && !is_held_, "a lock that has a file is taken once");
  if (!file_.is_open()) throw_system_error(fault_, fmt::format("lock {}", path_.string()));
  is_held_ = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
  if (!is_held_ && errno != EWOULDBLOCK && errno != EINTR) throw_system_error(errno, fmt::format("lock {}", path_.string()));
  return is_held_;
}

void FileLock::lock_if_possible(Seconds patience) {
  if (file_.is_open()) lock_within(patience);
}

bool FileLock::lock_within(Seconds patience, const std::function<void()>& on_wait) {
  const SteadyClock clock;
  const Seconds end = clock.now() + patience;
  Seconds pause = kFirstPause;
  for (bool is_first = true; !try_lock(); is_first = false) {
    if (is_first && on_wait) on_wait();
    if (clock.now() >= end) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kMaxPause);
  }
  return true;
}

void FileLock::write(std::string_view text) {
  ensure(is_held_, "only the holder of a lock writes into its file");
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), text.data(), text.size(), 0) < 0)
    throw_system_error(errno, fmt::format("lock {}", path_.string()));
}

// Ours is shared and gone at once.
bool is_locked(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.is_open() && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace trireme
