// SPDX-License-Identifier: Apache-2.0
// flock with a bound.
#include "trireme/train/staging/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <thread>

namespace trireme::train {
namespace {

constexpr Seconds kPause{0.02};

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, Seconds patience) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  const SteadyClock clock;
  const Seconds end = clock.now() + patience;
  while (fd_ >= 0 && !(held_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0) && clock.now() < end) std::this_thread::sleep_for(kPause);
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace trireme::train
