// SPDX-License-Identifier: Apache-2.0
// Slices over the memory of senders, and out of slices into that of receivers.
#include "trireme/rpc/bulk_bytes.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace trireme::rpc {
namespace {

struct Loan {
  std::shared_ptr<const void> keeper;
  std::shared_ptr<Loans> loans;

  static void give_back(void* loan) {
    const std::unique_ptr<Loan> owned(static_cast<Loan*>(loan));
    owned->keeper.reset();
    owned->loans->give_back();
  }
};

}  // namespace

grpc::ByteBuffer buffer_of(Outgoing message, const std::shared_ptr<Loans>& loans) {
  const grpc::Slice head(message.head);
  if (message.body.empty()) return {&head, 1};
  loans->lend();
  auto loan = std::make_unique<Loan>(Loan{.keeper = std::move(message.keeper), .loans = loans});
  const grpc::Slice body(const_cast<std::byte*>(message.body.data()), message.body.size(), Loan::give_back, loan.release());
  const std::array slices{head, body};
  return {slices.data(), slices.size()};
}

ReceivedBuffer::ReceivedBuffer(const grpc::ByteBuffer& buffer) : size_(buffer.Length()) {
  if (!buffer.Dump(&slices_).ok()) throw Error{data_loss, "a message could not be read"};
}

void ReceivedBuffer::copy(std::size_t offset, std::span<std::byte> to) const {
  if (offset > size_ || to.size() > size_ - offset)
    throw Error{data_loss, "a message of {} bytes has no {} bytes at {}", size_, to.size(), offset};
  for (auto slice = slices_.begin(); !to.empty(); ++slice) {
    if (offset >= slice->size()) {
      offset -= slice->size();
      continue;
    }
    const std::size_t count = std::min(slice->size() - offset, to.size());
    std::memcpy(to.data(), slice->begin() + offset, count);
    to = to.subspan(count);
    offset = 0;
  }
}

}  // namespace trireme::rpc
