// SPDX-License-Identifier: Apache-2.0
// What differs between streams of texts and streams for much data.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "trireme/rpc/bulk_bytes.h"
#include "trireme/rpc/session.h"

namespace trireme::rpc {

struct Texts {
  using End = Session;
  using Listener = SessionListener;
  using Message = std::string;
  static constexpr std::size_t kQueueBytes = Session::kQueueBytes;
  static constexpr bool kErrorsDrop = false;

  class Queue {
   public:
    bool empty() const { return waiting_.empty(); }
    void swap(Queue& other) { waiting_.swap(other.waiting_); }
    void push(std::string message) { waiting_.push_back(std::move(message)); }
    grpc::ByteBuffer pop(const std::shared_ptr<Loans>&) {
      std::string message = std::move(waiting_.front());
      waiting_.pop_front();
      return buffer_of(std::move(message));
    }
    static std::size_t size(const std::string& message) { return message.size(); }

   private:
    std::deque<std::string> waiting_;
  };
  static void hand_over(const grpc::ByteBuffer& buffer, const SessionListener& listener) { listener.received(bytes_of(buffer)); }
};

struct Bulk {
  using End = BulkSession;
  using Listener = BulkListener;
  using Message = Outgoing;
  static constexpr std::size_t kQueueBytes = std::size_t{1} << 30;
  static constexpr bool kErrorsDrop = true;

  using Queue = BulkQueue;
  static void hand_over(const grpc::ByteBuffer& buffer, const BulkListener& listener) { rpc::hand_over(buffer, listener.received); }
};

}  // namespace trireme::rpc
