// SPDX-License-Identifier: Apache-2.0
// One end of a stream of messages in both directions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "trireme/base/error.h"
#include "trireme/rpc/credentials.h"

namespace trireme::rpc {

constexpr std::size_t kMaxMessageBytes = 4 << 20;

struct Peer {
  Identity identity;    // as its certificate says
  std::string address;  // where its connection comes from, for messages
};

// All calls may come from any thread.
class Session {
 public:
  virtual ~Session() = default;
  // Queues the message; false if the stream has ended. A peer that lets more than kQueueBytes pile up is cut off.
  virtual bool send(std::string bytes) = 0;
  // Ends the stream after what is queued; the coordinator's reason is sent to the node. closed() of both listeners follows.
  virtual void close(const Error& why) = 0;

  static constexpr std::size_t kQueueBytes = 64 << 20;
};

// Called one after the other, by threads that serve all streams: what takes time belongs elsewhere.
struct SessionListener {
  std::function<void(std::string)> received;
  // Once, after the last message. The code is ok if the stream ended in good order, and unavailable if the peer is gone.
  std::function<void(const Error&)> closed;
};

}  // namespace trireme::rpc
