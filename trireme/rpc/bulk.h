// SPDX-License-Identifier: Apache-2.0
// Streams for much data: what is sent may lie in the sender's memory, and is copied once at the other end, to where it belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "trireme/base/error.h"
#include "trireme/rpc/session.h"

namespace trireme::rpc {

// A message on its way out: `head`, then `body`, arrive as one.
struct Outgoing {
  std::string head;
  std::span<const std::byte> body;
  // Keeps `body` where it is until it has been sent. Empty: the sender promises that, until the stream's closed() was called.
  std::shared_ptr<const void> keeper;
  std::int64_t urgency = 0;  // of messages that wait, the one with the greatest goes first; equal ones in the order they were sent
};

// A message that has come; only for the time of the call.
class Incoming {
 public:
  virtual ~Incoming() = default;
  virtual std::size_t size() const = 0;
  virtual void copy(std::size_t offset, std::span<std::byte> to) const = 0;  // all of `to` must be there: data_loss otherwise
};

// One end of such a stream. All calls may come from any thread, also from within a listener.
class BulkSession {
 public:
  virtual ~BulkSession() = default;
  virtual bool send(Outgoing message) = 0;  // queues it; false if the stream has ended
  // ok: after what is queued. Anything else: at once, and what is queued is dropped; the side that opened the stream receives the reason.
  virtual void close(const Error& why) = 0;
};

// Called one after the other for a stream, at the same time for several. An Error thrown by received() closes the stream with it.
struct BulkListener {
  std::function<void(const Incoming&)> received;
  std::function<void(const Error&)> closed;  // once, after the last message; then no body is looked at any more
};

}  // namespace trireme::rpc
