// SPDX-License-Identifier: Apache-2.0
// Writes that others need not wait for: done in their order, by one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "trireme/run/training/disk_guard.h"

namespace trireme::run {

// All calls may come from any thread. When a write fails, those that wait behind it are dropped, as they would never have been asked for
// if its caller had waited; so are later ones, until one of the calls that say so has thrown its error.
class WriteQueue {
 public:
  static constexpr std::int64_t kMaxBytes = std::int64_t{64} << 20;

  explicit WriteQueue(DiskGuard& guard, std::int64_t max_bytes = kMaxBytes);
  ~WriteQueue();  // when all is written
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  using Number = std::int64_t;
  // It counts with its bytes until it is done. Waits only while there is no room for them.
  Number post(const DiskWrite& write, std::function<void()> carry_out);
  void check();                    // throws what a write threw
  bool is_written(Number number);  // also all before it; throws what a write threw
  void wait();                     // for all that was posted; throws what a write threw

 private:
  struct Task {
    Number number = 0;
    DiskWrite write;
    std::function<void()> carry_out;
  };
  void run();
  void await_room(std::unique_lock<std::mutex>& lock, std::int64_t bytes);
  std::exception_ptr carry_out(const Task& task);
  void on_done(const Task& task, const std::exception_ptr& failure);
  void rethrow(std::unique_lock<std::mutex>& lock);

  DiskGuard& guard_;
  const std::int64_t max_bytes_;
  std::mutex mutex_;
  std::condition_variable posted_, done_;
  std::deque<Task> waiting_;
  std::int64_t bytes_ = 0;  // of those that wait and the one that is being written
  Number last_ = 0;
  Number written_ = 0;
  bool is_writing_ = false;
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace trireme::run
