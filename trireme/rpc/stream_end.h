// SPDX-License-Identifier: Apache-2.0
// What both ends of a stream have in common: one read and one write under way, the rest queued.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "trireme/rpc/grpc_bytes.h"
#include "trireme/rpc/session.h"

namespace trireme::rpc {

// Reactor is gRPC's for the server's or the client's end; the most derived class knows how to end the stream.
// Starting an operation never calls back from within, so the lock may be held.
template <class Reactor>
class StreamEnd : public Reactor, public Session, public std::enable_shared_from_this<StreamEnd<Reactor>> {
 public:
  bool send(std::string bytes) override {
    const std::lock_guard lock(mutex_);
    if (ended_ || closing_) return false;
    if (queued_ + bytes.size() > kQueueBytes) {
      closing_ = Error{resource_exhausted, "the peer does not take its messages: {} bytes are waiting", queued_};
      cancel();
      return false;
    }
    queued_ += bytes.size();
    queue_.push_back(buffer_of(std::move(bytes)));
    if (queue_.size() == 1) this->StartWrite(&queue_.front());
    return true;
  }

  void close(const Error& why) override {
    const std::lock_guard lock(mutex_);
    if (ended_ || closing_) return;
    closing_ = why;
    if (queue_.empty()) end_writing(*closing_);
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      hand_over();
      this->StartRead(&incoming_);
      return;
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (queue_.empty()) end_reading();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    queued_ -= queue_.front().Length();
    queue_.pop_front();
    if (!ok) queue_.clear();
    if (!queue_.empty()) return this->StartWrite(&queue_.front());
    if (ended_) return end_reading();
    if (closing_) end_writing(*closing_);
  }

 protected:
  void start_reading() { this->StartRead(&incoming_); }

  void hand_over() {
    try {
      listener_.received(bytes_of(incoming_));
    } catch (const Error& error) {
      close(error);
    }
  }

  // All with the lock held. After everything queued is out and this side has closed the stream:
  virtual void end_writing(const Error& why) = 0;
  // After the peer has ended it, or is gone, and no write is under way:
  virtual void end_reading() = 0;
  virtual void cancel() = 0;

  std::mutex mutex_;
  SessionListener listener_;
  std::optional<Error> closing_;  // by this side

 private:
  grpc::ByteBuffer incoming_;
  std::deque<grpc::ByteBuffer> queue_;  // the first is under way
  std::size_t queued_ = 0;
  bool ended_ = false;  // nothing comes any more
};

}  // namespace trireme::rpc
