// SPDX-License-Identifier: Apache-2.0
// The streams that a channel or a server must see the end of before its own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>

namespace trireme::rpc {

class OpenStream {
 public:
  virtual void abandon() = 0;

 protected:
  ~OpenStream() = default;
};

// First gRPC is done with a stream, then its listener is told. A channel must end after the former: the last one to let go of gRPC's
// channel waits for the threads that call back, and would wait for itself if it were one of them.
class OpenStreams {
 public:
  void add(OpenStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.insert(stream);
    ++untold_;
  }
  void done(OpenStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.erase(stream);
    changed_.notify_all();
  }
  void told() {
    const std::lock_guard lock(mutex_);
    --untold_;
    changed_.notify_all();
  }

  void end_all() {
    std::unique_lock lock(mutex_);
    for (OpenStream* stream : streams_) stream->abandon();
    changed_.wait(lock, [this] { return streams_.empty(); });
  }
  void await_told() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return untold_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<OpenStream*> streams_;
  std::size_t untold_ = 0;
};

}  // namespace trireme::rpc
