// SPDX-License-Identifier: Apache-2.0
// What both ends of a stream have in common: one read and one write under way, the rest queued.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "trireme/base/traffic.h"
#include "trireme/rpc/grpc_bytes.h"
#include "trireme/rpc/loans.h"
#include "trireme/rpc/open_streams.h"
#include "trireme/rpc/session.h"
#include "trireme/rpc/stream_kinds.h"

namespace trireme::rpc {

// Reactor is gRPC's for the server's or the client's end, Kind one of stream_kinds.h; the most derived class knows how to end the
// stream. Starting an operation never calls back from within, so the lock may be held. Messages are let go of without it, since
// that may call what their sender gave along.
template <class Reactor, class Kind>
class StreamEnd : public Reactor, public Kind::End, public OpenStream, public std::enable_shared_from_this<StreamEnd<Reactor, Kind>> {
 public:
  bool send(typename Kind::Message message) override {
    const std::size_t size = Queue::size(message);
    const std::lock_guard lock(mutex_);
    if (ended_ || closing_) return false;
    if (size > kMaxMessageBytes)
      return cut_off(Error{resource_exhausted, "a message has {} bytes; {} are allowed", size, kMaxMessageBytes});
    if (queued_ + size > Kind::kQueueBytes)
      return cut_off(Error{resource_exhausted, "the peer does not take its messages: {} bytes are waiting", queued_});
    queued_ += size;
    waiting_.push(std::move(message));
    if (!writing_) write_next();
    return true;
  }

  void close(const Error& why) override {
    Queue dropped;
    const std::lock_guard lock(mutex_);
    if (ended_ || closing_) return;
    closing_ = why;
    if (Kind::kErrorsDrop && why.code() != ok) {
      dropped.swap(waiting_);
      break_off(why);
    } else if (!writing_) {
      end_writing(why);
    }
  }

  void abandon() override {
    const std::lock_guard lock(mutex_);
    cancel();
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      hand_over();
      this->StartRead(&incoming_);
      return;
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (!writing_) end_reading();
  }

  void OnWriteDone(bool ok) override {
    Queue dropped;
    grpc::ByteBuffer sent;
    const std::lock_guard lock(mutex_);
    writing_ = false;
    queued_ -= outgoing_.Length();
    sent.Swap(&outgoing_);
    if (!ok) dropped.swap(waiting_);
    if (!waiting_.empty()) return write_next();
    if (ended_) return end_reading();
    if (closing_) end_writing(*closing_);
  }

 protected:
  // `traffic` counts what passes; may be empty.
  StreamEnd(std::shared_ptr<OpenStreams> streams, std::shared_ptr<TrafficCounter> traffic)
      : streams_(std::move(streams)), traffic_(std::move(traffic)) {}

  // Keeps itself alive until gRPC is done with it and the listener has been notified.
  void begin(typename Kind::Listener listener) {
    self_ = this->shared_from_this();
    listener_ = std::move(listener);
    streams_->add(this);
  }
  void start_reading() { this->StartRead(&incoming_); }

  // gRPC is done with it.
  void end(const Error& why) {
    streams_->done(this);
    loans_->settle([self = std::move(self_), why] {
      self->listener_.closed(why);
      self->listener_ = {};
      self->streams_->notified();
    });
  }

  // All with the lock held. After everything queued is out and this side has closed the stream:
  virtual void end_writing(const Error& why) = 0;
  // This side has closed it for an error; a write may be under way:
  virtual void break_off(const Error& why) = 0;
  // After the peer has ended it, or is gone, and no write is under way:
  virtual void end_reading() = 0;
  virtual void cancel() = 0;

  std::mutex mutex_;
  std::optional<Error> closing_;  // by this side
  bool cut_off_ = false;          // by this side, without a word to the peer
  bool writing_ = false;

 private:
  using Queue = typename Kind::Queue;

  bool cut_off(Error why) {
    closing_ = std::move(why);
    cut_off_ = true;
    cancel();
    return false;
  }

  void write_next() {
    outgoing_ = waiting_.pop(loans_);
    if (traffic_) traffic_->count_sent(outgoing_.Length());
    writing_ = true;
    this->StartWrite(&outgoing_);
  }

  void hand_over() {
    if (traffic_) traffic_->count_received(incoming_.Length());
    try {
      Kind::hand_over(incoming_, listener_);
    } catch (const Error& error) {  // a handler of messages: the stream ends with it
      close(error);
    }
  }

  const std::shared_ptr<OpenStreams> streams_;
  const std::shared_ptr<TrafficCounter> traffic_;
  const std::shared_ptr<Loans> loans_ = std::make_shared<Loans>();
  std::shared_ptr<StreamEnd> self_;
  typename Kind::Listener listener_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;  // under way
  Queue waiting_;
  std::size_t queued_ = 0;  // bytes, with what is under way
  bool ended_ = false;      // nothing comes any more
};

}  // namespace trireme::rpc
