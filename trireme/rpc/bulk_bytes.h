// SPDX-License-Identifier: Apache-2.0
// Messages of bulk streams as gRPC has them.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <vector>

#include "trireme/rpc/bulk.h"
#include "trireme/rpc/loans.h"

namespace trireme::rpc {

// The body is not copied: it is lent until gRPC lets go of it.
grpc::ByteBuffer buffer_of(Outgoing message, const std::shared_ptr<Loans>& loans);

class ReceivedBuffer final : public Incoming {
 public:
  explicit ReceivedBuffer(const grpc::ByteBuffer& buffer);
  std::size_t size() const override { return size_; }
  void copy(std::size_t offset, std::span<std::byte> to) const override;

 private:
  std::vector<grpc::Slice> slices_;
  std::size_t size_ = 0;
};

}  // namespace trireme::rpc
