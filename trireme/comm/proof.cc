// SPDX-License-Identifier: Apache-2.0
// Nonces and HMACs over unbound buffers; every message has a fixed length.
#include "trireme/comm/proof.h"

#include <gloo/transport/address.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kNonceBytes = 32;
constexpr std::size_t kAddressBytes = 64;
constexpr std::size_t kHelloBytes = kNonceBytes + kAddressBytes;
constexpr std::size_t kProofBytes = 32;
// Gloo's collectives use slots from 2^56 on.
constexpr std::uint64_t kHelloSlot = 1;
constexpr std::uint64_t kProofSlot = 2;

// One message of equal length to and from every other member.
class Exchange {
 public:
  Exchange(const std::shared_ptr<gloo::Context>& context, std::size_t bytes, std::uint64_t slot)
      : context_(context), bytes_(bytes), slot_(slot), mine_(bytes * static_cast<std::size_t>(context->size), '\0'), theirs_(mine_) {
    out_ = context->createUnboundBuffer(mine_.data(), mine_.size());
    in_ = context->createUnboundBuffer(theirs_.data(), theirs_.size());
  }

  std::string mine(int peer) const { return mine_.substr(offset(peer), bytes_); }
  std::string theirs(int peer) const { return theirs_.substr(offset(peer), bytes_); }
  void set(int peer, const std::string& message) { mine_.replace(offset(peer), bytes_, message); }

  void run(const Deadline& deadline) {
    for_each_peer([&](int peer) { in_->recv(peer, slot_, offset(peer), bytes_); });
    for_each_peer([&](int peer) { out_->send(peer, slot_, offset(peer), bytes_); });
    for_each_peer([&](int) { in_->waitRecv(milliseconds_of(deadline.left())); });
    for_each_peer([&](int) { out_->waitSend(milliseconds_of(deadline.left())); });
  }

  template <class Visit>
  void for_each_peer(Visit visit) const {
    for (int peer = 0; peer < context_->size; ++peer)
      if (peer != context_->rank) visit(peer);
  }

 private:
  std::size_t offset(int peer) const { return static_cast<std::size_t>(peer) * bytes_; }

  std::shared_ptr<gloo::Context> context_;
  std::size_t bytes_;
  std::uint64_t slot_;
  std::string mine_;
  std::string theirs_;
  std::unique_ptr<gloo::transport::UnboundBuffer> out_;
  std::unique_ptr<gloo::transport::UnboundBuffer> in_;
};

// Says who speaks to whom, so that a proof can't be sent back to its maker or on to a third member.
std::string proof(const Group& group, int from, int to, const std::string& hello_from, const std::string& hello_to) {
  return hmac_sha256(group.key, fmt::format("trireme pair {} {} {} ", group.generation, from, to) + hello_from + hello_to);
}

}  // namespace

std::vector<std::string> prove_pairs(const std::shared_ptr<gloo::Context>& context, const Group& group, const Deadline& deadline) {
  Exchange hello(context, kHelloBytes, kHelloSlot);
  hello.for_each_peer([&](int peer) {
    std::string address = context->getPair(peer)->address().str();
    address.resize(kAddressBytes, '\0');
    hello.set(peer, random_bytes(kNonceBytes) + address);
  });
  hello.run(deadline);

  Exchange proofs(context, kProofBytes, kProofSlot);
  proofs.for_each_peer([&](int peer) { proofs.set(peer, proof(group, group.rank, peer, hello.mine(peer), hello.theirs(peer))); });
  proofs.run(deadline);

  std::vector<std::string> addresses(static_cast<std::size_t>(context->size));
  proofs.for_each_peer([&](int peer) {
    if (!equal_in_constant_time(proofs.theirs(peer), proof(group, peer, group.rank, hello.theirs(peer), hello.mine(peer))))
      throw Error{unauthenticated, "what answers as rank {} does not know this job's key", peer};
    const std::string address = hello.theirs(peer).substr(kNonceBytes);
    addresses[static_cast<std::size_t>(peer)] = address.substr(0, address.find('\0'));
  });
  return addresses;
}

}  // namespace trireme::comm
