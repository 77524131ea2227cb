// SPDX-License-Identifier: Apache-2.0
// What differs between streams of texts and streams for much data.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
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

  static std::int64_t urgency(const std::string&) { return 0; }
  static std::size_t size(const std::string& message) { return message.size(); }
  static grpc::ByteBuffer pack(std::string message, const std::shared_ptr<Loans>&) { return buffer_of(std::move(message)); }
  static void hand_over(const grpc::ByteBuffer& buffer, const SessionListener& listener) { listener.received(bytes_of(buffer)); }
};

struct Bulk {
  using End = BulkSession;
  using Listener = BulkListener;
  using Message = Outgoing;
  static constexpr std::size_t kQueueBytes = std::size_t{1} << 30;
  static constexpr bool kErrorsDrop = true;

  static std::int64_t urgency(const Outgoing& message) { return message.urgency; }
  static std::size_t size(const Outgoing& message) { return message.head.size() + message.body.size(); }
  static grpc::ByteBuffer pack(Outgoing message, const std::shared_ptr<Loans>& loans) { return buffer_of(std::move(message), loans); }
  static void hand_over(const grpc::ByteBuffer& buffer, const BulkListener& listener) { listener.received(ReceivedBuffer(buffer)); }
};

}  // namespace trireme::rpc
