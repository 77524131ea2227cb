// SPDX-License-Identifier: Apache-2.0
// The streams that a channel or a server must see the end of before its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "trireme/base/error.h"

namespace trireme::rpc {

class OpenStream {
 public:
  virtual void abandon() = 0;

 protected:
  ~OpenStream() = default;
};

// First gRPC is done with a stream, then its listener is notified. A channel must end after the former: the last one to let go of gRPC's
// channel waits for the threads that call back, and would wait for itself if it were one of them.
class OpenStreams {
 public:
  void add(OpenStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.insert(stream);
    ++unnotified_;
  }
  void done(OpenStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.erase(stream);
    changed_.notify_all();
  }
  void notified() {
    const std::lock_guard lock(mutex_);
    --unnotified_;
    changed_.notify_all();
  }

  void end_all() {
    std::unique_lock lock(mutex_);
    for (OpenStream* stream : streams_) stream->abandon();
    await(
        lock, [this] { return streams_.empty(); }, "gRPC is done with a stream that was cancelled");
  }
  void await_notified() {
    std::unique_lock lock(mutex_);
    await(
        lock, [this] { return unnotified_ == 0; }, "the listener of a stream that has ended comes back");
  }

 private:
  // Owned by the channel or server that ends. What is waited for is memory that gRPC or a listener still uses, so it can't go on without;
  // a process that would hang here for ever is better dead, and is then started again. Counted in seconds that this process was awake:
  // one that was stopped meanwhile is not late.
  template <class Done>
  void await(std::unique_lock<std::mutex>& lock, const Done& done, const char* what) {
    constexpr int kSeconds = 60;
    for (int waited = 0; !changed_.wait_for(lock, std::chrono::seconds(1), done); ++waited) ensure(waited < kSeconds, what);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<OpenStream*> streams_;
  std::size_t unnotified_ = 0;
};

}  // namespace trireme::rpc
