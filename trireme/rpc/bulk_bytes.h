// SPDX-License-Identifier: Apache-2.0
// Messages of bulk streams as gRPC has them: several travel as one, each behind its length.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "trireme/rpc/bulk.h"
#include "trireme/rpc/loans.h"

namespace trireme::rpc {

using BulkLength = std::uint32_t;  // stands before a message; without itself, little-endian as all machines that we run on

// Messages that wait. What gRPC does for each of its messages costs some 20 microseconds and a few changes of threads at both ends;
// so those that wait anyway go together, up to kTogether bytes.
class BulkQueue {
 public:
  static constexpr std::size_t kTogether = 1 << 20;

  bool empty() const { return waiting_.empty(); }
  void swap(BulkQueue& other) { waiting_.swap(other.waiting_); }
  void push(Outgoing message);
  // The most urgent one, and those after it that fit. Bodies are not copied: they are lent until gRPC lets go of them.
  grpc::ByteBuffer pop(const std::shared_ptr<Loans>& loans);

  static std::size_t size(const Outgoing& message) { return sizeof(BulkLength) + message.head.size() + message.body.size(); }

 private:
  std::multimap<std::int64_t, Outgoing, std::greater<>> waiting_;  // equal ones stay in order
};

// Calls `received` for each message. Throws data_loss if they are not whole, and what `received` throws.
void hand_over(const grpc::ByteBuffer& buffer, const std::function<void(const Incoming&)>& received);

}  // namespace trireme::rpc
