// SPDX-License-Identifier: Apache-2.0
// Two ends that call each other's listeners.
#include "trireme/rpc/bulk_pair.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace trireme::rpc {
namespace {

class LentMessage final : public Incoming {
 public:
  explicit LentMessage(const Outgoing& message) : message_(message) {}
  std::size_t size() const override { return message_.head.size() + message_.body.size(); }
  void copy(std::size_t offset, std::span<std::byte> to) const override {
    if (offset > size() || to.size() > size() - offset)
      throw Error{data_loss, "a message of {} bytes has no {} bytes at {}", size(), to.size(), offset};
    const auto head = std::as_bytes(std::span(message_.head));
    const std::size_t in_head = offset < head.size() ? std::min(head.size() - offset, to.size()) : 0;
    if (in_head > 0) std::memcpy(to.data(), head.data() + offset, in_head);
    if (in_head < to.size()) std::memcpy(to.data() + in_head, message_.body.data() + (offset + in_head - head.size()), to.size() - in_head);
  }

 private:
  const Outgoing& message_;
};

// A listener must not be called twice at a time, neither by two threads nor from within itself: a thread that finds it busy leaves its
// message to the one that keeps it so.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // Before that, what comes for it waits.
  void listen(std::size_t number, BulkListener listener) {
    {
      const std::lock_guard lock(mutex_);
      ends_[number].listener = std::move(listener);
      ends_[number].is_busy = false;
    }
    serve(number);
  }

  bool send(std::size_t to, Outgoing message) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return false;
      const std::int64_t urgency = message.urgency;
      ends_[to].waiting.emplace(urgency, std::move(message));
    }
    serve(to);
    return true;
  }

  void close(const Error& why) {
    std::array<Waiting, 2> dropped;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      closing_ = why;
      for (std::size_t end = 0; end < ends_.size() && why.code() != ok; ++end) dropped[end].swap(ends_[end].waiting);
    }
    for (std::size_t end = 0; end < ends_.size(); ++end) serve(end);
  }

 private:
  using Waiting = std::multimap<std::int64_t, Outgoing, std::greater<>>;  // equal ones stay in order
  struct End {
    BulkListener listener;
    Waiting waiting;
    bool is_busy = true;
    bool is_notified = false;  // of the end
  };

  void serve(std::size_t number) {
    const auto self = shared_from_this();
    End& end = ends_[number];
    std::unique_lock lock(mutex_);
    if (end.is_busy) return;
    end.is_busy = true;
    while (!end.waiting.empty() || (closing_ && !end.is_notified)) {
      Waiting::node_type message;
      if (end.waiting.empty())
        end.is_notified = true;
      else
        message = end.waiting.extract(end.waiting.begin());
      lock.unlock();
      if (message.empty())
        notify_end(end);
      else
        hand_over(end, message.mapped());
      message = {};
      lock.lock();
    }
    end.is_busy = false;
  }

  void hand_over(const End& end, const Outgoing& message) {
    try {
      end.listener.received(LentMessage(message));
    } catch (const Error& error) {  // a handler of messages: the stream ends with it
      close(error);
    }
  }

  // No message comes after it, so that what the listener holds may go.
  void notify_end(End& end) {
    if (end.listener.closed) end.listener.closed(*closing_);
    end.listener = {};
  }

  std::mutex mutex_;
  std::array<End, 2> ends_;
  std::optional<Error> closing_;  // doesn't change any more
};

class PairSession final : public BulkSession {
 public:
  PairSession(std::shared_ptr<Stream> stream, std::size_t peer) : stream_(std::move(stream)), peer_(peer) {}
  bool send(Outgoing message) override { return stream_->send(peer_, std::move(message)); }
  void close(const Error& why) override { stream_->close(why); }

 private:
  const std::shared_ptr<Stream> stream_;
  const std::size_t peer_;
};

}  // namespace

std::shared_ptr<BulkSession> bulk_pair(BulkListener listener, const std::function<BulkListener(std::shared_ptr<BulkSession>)>& opened) {
  const auto stream = std::make_shared<Stream>();
  stream->listen(0, std::move(listener));
  try {
    stream->listen(1, opened(std::make_shared<PairSession>(stream, 0)));
  } catch (const Error& error) {  // refused by the other end: the caller learns it from the stream
    stream->close(error);
    stream->listen(1, {});
  }
  return std::make_shared<PairSession>(stream, 1);
}

}  // namespace trireme::rpc
