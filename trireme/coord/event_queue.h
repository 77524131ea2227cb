// SPDX-License-Identifier: Apache-2.0
// A queue that one side fills and the other waits on.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "trireme/base/clock.h"

namespace trireme::coord {

template <class T>
class EventQueue {
 public:
  void push(T event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    changed_.notify_all();
  }

  // Nothing after the timeout, or at once if the queue is closed and empty.
  std::optional<T> next(Seconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return closed_ || !events_.empty(); });
    if (events_.empty()) return std::nullopt;
    std::optional<T> out(std::move(events_.front()));
    events_.pop_front();
    return out;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> events_;
  bool closed_ = false;
};

}  // namespace trireme::coord
