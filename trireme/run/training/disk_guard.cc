// SPDX-License-Identifier: Apache-2.0
// A thread that looks at the watch four times per second.
#include "trireme/run/training/disk_guard.h"

#include <utility>

#include "trireme/run/terminal/exit_code.h"

namespace trireme::run {
namespace {

constexpr Seconds kLook{0.25};

}  // namespace

DiskGuard::DiskGuard(std::string directory, Options options) : options_(std::move(options)), watch_(std::move(directory)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

DiskGuard::~DiskGuard() = default;

void DiskGuard::rename(std::string directory) {
  const std::lock_guard lock(mutex_);
  watch_.rename(std::move(directory));
}

void DiskGuard::expect_end() {
  const std::lock_guard lock(mutex_);
  expects_end_ = true;
}

void DiskGuard::before_exit(std::function<void()> leave) {
  const std::lock_guard lock(leaving_);
  leave_ = std::move(leave);
}

DiskWatch::Id DiskGuard::begin(const DiskWrite& write) {
  const std::lock_guard lock(mutex_);
  return watch_.begin(options_.clock.now(), write);
}

void DiskGuard::end(DiskWatch::Id id) {
  const std::lock_guard lock(mutex_);
  watch_.end(options_.clock.now(), id);
}

void DiskGuard::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, kLook, [] { return false; });
  }
  look();  // that the last write is through is said, too
}

DiskWait DiskGuard::wait() const {
  if (options_.stop != 0) return DiskWait::interruption;
  return expects_end_ ? DiskWait::end : DiskWait::training;
}

void DiskGuard::look() {
  std::unique_lock lock(mutex_);
  const DiskWatch::Verdict verdict = watch_.look(options_.clock.now(), wait());
  lock.unlock();
  for (const std::string& line : verdict.lines) options_.say(line);
  if (!verdict.gives_up) return;
  const std::lock_guard leaving(leaving_);
  if (leave_) leave_();
  options_.exit(options_.stop != 0 ? 128 + options_.stop : int{exit_failed});
}

}  // namespace trireme::run
