// SPDX-License-Identifier: Apache-2.0
// Writes whole records, cuts off what is left of one that failed, and keeps what has to wait.
#include "trireme/observe/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "trireme/base/files.h"

namespace trireme::observe {
namespace {

constexpr std::size_t kMaxWaiting = std::size_t{8} << 20;  // bytes; of records that are given up late: twice as many

}  // namespace

AppendFile::AppendFile(std::filesystem::path path, Mode mode, AppendWatch* watch) : path_(std::move(path)), mode_(mode), watch_(watch) {
  try {
    open();
  } catch (const Error& error) {  // the watch gets it instead
    fail(error);
  }
}

void AppendFile::append(std::string_view records, std::int64_t count, Loss loss) {
  if (is_behind_) return wait(records, count, loss);
  try {
    write_whole(records);
    unsynced_ += count;
  } catch (const Error& error) {  // the watch gets it instead
    fail(error);
    wait(records, count, loss);
  }
}

void AppendFile::wait(std::string_view records, std::int64_t count, Loss loss) {
  const std::size_t room = loss == Loss::late ? 2 * kMaxWaiting : kMaxWaiting;
  if (waiting_.size() + records.size() > room) return watch_->on_lost(path_, count);
  waiting_ += records;
}

void AppendFile::fail(const Error& why) {
  if (watch_ == nullptr) throw;  // the one that is being caught
  if (!is_behind_.exchange(true)) watch_->on_refused(path_, why);
}

void AppendFile::retry() {
  if (!is_behind_) return;
  try {
    write_whole(waiting_);
    if (has_lost_sync_) sync_file();
  } catch (const Error&) {  // as before: nothing new to report
    return;
  }
  waiting_ = {};
  is_behind_ = false;
  watch_->on_written(path_);
}

void AppendFile::sync() {
  retry();
  if (is_behind_) return;
  try {
    sync_file();
  } catch (const Error& error) {  // the watch gets it instead
    has_lost_sync_ = true;
    fail(error);
    // After a failed fsync the kernel forgets what it could not write.
    if (const std::int64_t lost = std::exchange(unsynced_, 0); lost > 0) watch_->on_lost(path_, lost);
  }
}

void AppendFile::sync_file() {
  if (::fsync(file_.get()) != 0) throw_system_error(errno, fmt::format("sync {}", path_.string()));
  has_lost_sync_ = false;
  unsynced_ = 0;
}

void AppendFile::open() {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (mode_ == Mode::create ? O_EXCL : 0);
  Descriptor file(::open(path_.c_str(), flags, 0644));
  if (!file.is_open()) throw_system_error(errno, fmt::format("open {}", path_.string()));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_system_error(errno, fmt::format("open {}", path_.string()));
  size_ = status.st_size;
  file_ = std::move(file);
}

void AppendFile::write_whole(std::string_view bytes) {
  if (!file_.is_open()) open();
  if (is_torn_) cut_torn();
  const auto whole = static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_write(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    is_torn_ = !bytes.empty();
  }
  size_ += whole;
}

// Whatever becomes of this process, its last record is whole. If even that fails it is tried before the next one.
void AppendFile::fail_write(int reason) {
  if (is_torn_) is_torn_ = ::ftruncate(file_.get(), size_) != 0;
  throw_system_error(reason, fmt::format("write {}", path_.string()));
}

void AppendFile::cut_torn() {
  if (::ftruncate(file_.get(), size_) != 0) throw_system_error(errno, fmt::format("cut {}", path_.string()));
  is_torn_ = false;
}

}  // namespace trireme::observe
