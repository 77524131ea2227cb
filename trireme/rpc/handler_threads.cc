// SPDX-License-Identifier: Apache-2.0
// A pool of threads that grows while all are waiting.
#include "trireme/rpc/handler_threads.h"

#include <system_error>

namespace trireme::rpc {

HandlerThreads::~HandlerThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool HandlerThreads::run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (work_.size() >= idle_) {
    if (threads_.size() == most_) return false;
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // the system has no more threads for us
      return false;
    }
    ++idle_;
  }
  work_.push_back(std::move(work));
  changed_.notify_one();
  return true;
}

void HandlerThreads::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    --idle_;
    lock.unlock();
    work();
    lock.lock();
    ++idle_;
  }
}

}  // namespace trireme::rpc
