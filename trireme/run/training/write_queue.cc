// SPDX-License-Identifier: Apache-2.0
// A thread that takes one write after another.
#include "trireme/run/training/write_queue.h"

#include <utility>

namespace trireme::run {

WriteQueue::WriteQueue(DiskGuard& guard, std::int64_t max_bytes) : guard_(guard), max_bytes_(max_bytes), thread_([this] { run(); }) {}

WriteQueue::~WriteQueue() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  posted_.notify_one();
}

WriteQueue::Number WriteQueue::post(const DiskWrite& write, std::function<void()> carry_out) {
  std::unique_lock lock(mutex_);
  await_room(lock, write.bytes);
  ++last_;
  if (failure_) return last_;
  bytes_ += write.bytes;
  waiting_.push_back({.number = last_, .write = write, .carry_out = std::move(carry_out)});
  posted_.notify_one();
  return last_;
}

// One that is larger than the whole is taken when nothing else waits.
void WriteQueue::await_room(std::unique_lock<std::mutex>& lock, std::int64_t bytes) {
  const auto has_room = [&] { return bytes_ == 0 || bytes_ + bytes <= max_bytes_; };
  if (has_room()) return;
  const DiskGuard::Write full(guard_, {.what = "the memory for records is full, the training waits"});
  done_.wait(lock, has_room);  // the guard ends it, if the user asks for that
}

void WriteQueue::check() {
  std::unique_lock lock(mutex_);
  rethrow(lock);
}

bool WriteQueue::is_written(Number number) {
  std::unique_lock lock(mutex_);
  rethrow(lock);
  return written_ >= number;
}

void WriteQueue::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return waiting_.empty() && !is_writing_; });  // the guard ends it, if the user asks for that
  rethrow(lock);
}

void WriteQueue::rethrow(std::unique_lock<std::mutex>& lock) {
  if (!failure_) return;
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  lock.unlock();
  std::rethrow_exception(failure);
}

void WriteQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    is_writing_ = true;
    lock.unlock();
    const std::exception_ptr failure = carry_out(task);
    task.carry_out = {};  // its memory counts until here
    lock.lock();
    is_writing_ = false;
    on_done(task, failure);
    done_.notify_all();
  }
}

std::exception_ptr WriteQueue::carry_out(const Task& task) {
  const DiskGuard::Write writing(guard_, task.write);
  try {
    task.carry_out();
  } catch (...) {  // thrown again on the thread that asks for it
    return std::current_exception();
  }
  return nullptr;
}

void WriteQueue::on_done(const Task& task, const std::exception_ptr& failure) {
  bytes_ -= task.write.bytes;
  if (!failure) {
    written_ = task.number;
    return;
  }
  failure_ = failure;
  waiting_.clear();
  bytes_ = 0;
}

}  // namespace trireme::run
