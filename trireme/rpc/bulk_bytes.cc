// SPDX-License-Identifier: Apache-2.0
// Slices over the memory of senders, and out of slices into that of receivers.
#include "trireme/rpc/bulk_bytes.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
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

grpc::Slice head_slice(const Outgoing& message) {
  const auto length = static_cast<BulkLength>(message.head.size() + message.body.size());
  std::string head(sizeof length, '\0');
  std::memcpy(head.data(), &length, sizeof length);
  head += message.head;
  return {head};
}

grpc::Slice body_slice(Outgoing message, const std::shared_ptr<Loans>& loans) {
  loans->lend();
  auto loan = std::make_unique<Loan>(Loan{.keeper = std::move(message.keeper), .loans = loans});
  return {const_cast<std::byte*>(message.body.data()), message.body.size(), Loan::give_back, loan.release()};
}

// All slices of what came, and the messages in them.
class Slices {
 public:
  explicit Slices(const grpc::ByteBuffer& buffer) : size_(buffer.Length()) {
    if (!buffer.Dump(&slices_).ok()) throw Error{data_loss, "a message could not be read"};
  }
  std::size_t size() const { return size_; }
  void copy(std::size_t offset, std::span<std::byte> to) const {
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

 private:
  std::vector<grpc::Slice> slices_;
  const std::size_t size_;
};

class Part final : public Incoming {
 public:
  Part(const Slices& slices, std::size_t begin, std::size_t size) : slices_(slices), begin_(begin), size_(size) {}
  std::size_t size() const override { return size_; }
  void copy(std::size_t offset, std::span<std::byte> to) const override {
    if (offset > size_ || to.size() > size_ - offset)
      throw Error{data_loss, "a message of {} bytes has no {} bytes at {}", size_, to.size(), offset};
    slices_.copy(begin_ + offset, to);
  }

 private:
  const Slices& slices_;
  const std::size_t begin_;
  const std::size_t size_;
};

}  // namespace

void BulkQueue::push(Outgoing message) {
  const std::int64_t urgency = message.urgency;
  waiting_.emplace(urgency, std::move(message));
}

grpc::ByteBuffer BulkQueue::pop(const std::shared_ptr<Loans>& loans) {
  std::vector<grpc::Slice> slices;
  std::size_t bytes = 0;
  while (!waiting_.empty()) {
    Outgoing& message = waiting_.begin()->second;
    bytes += size(message);
    if (!slices.empty() && bytes > kTogether) break;
    slices.push_back(head_slice(message));
    if (!message.body.empty()) slices.push_back(body_slice(std::move(message), loans));
    waiting_.erase(waiting_.begin());
  }
  return {slices.data(), slices.size()};
}

void hand_over(const grpc::ByteBuffer& buffer, const std::function<void(const Incoming&)>& received) {
  const Slices slices(buffer);
  for (std::size_t at = 0; at < slices.size();) {
    BulkLength length = 0;
    Part(slices, at, slices.size() - at).copy(0, std::as_writable_bytes(std::span(&length, 1)));
    at += sizeof length;
    if (length > slices.size() - at) throw Error{data_loss, "a message of {} bytes was cut off after {}", length, slices.size() - at};
    received(Part(slices, at, length));
    at += length;
  }
}

}  // namespace trireme::rpc
