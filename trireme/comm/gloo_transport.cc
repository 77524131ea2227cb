// SPDX-License-Identifier: Apache-2.0
// The part of Gloo's transport interface that its collectives use: unbound buffers, and pairs that exist.
#include "trireme/comm/gloo_transport.h"

#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <vector>

namespace trireme::comm {
namespace {

[[noreturn]] void unused() { throw Error{unimplemented, "Gloo's older collectives are not for this transport"}; }

// Waits as long as the links are set to: Gloo passes the timeout of a collective to some of its waits only.
class LinkBuffer final : public gloo::transport::UnboundBuffer {
 public:
  LinkBuffer(Links& links, void* memory, std::size_t length) : UnboundBuffer(memory, length), links_(links) {}

  bool waitRecv(int* rank, std::chrono::milliseconds /*timeout*/) override {
    ensure(rank == nullptr, "our collectives know whom they wait for");
    links_.wait(received_, ++received_waited_for_);
    return true;
  }
  bool waitSend(int* rank, std::chrono::milliseconds /*timeout*/) override {
    ensure(rank == nullptr, "our collectives know whom they wait for");
    links_.wait(sent_, ++sent_waited_for_);
    return true;
  }
  void abortWaitRecv() override { unused(); }
  void abortWaitSend() override { unused(); }

  void send(int peer, std::uint64_t slot, std::size_t offset, std::size_t count) override {
    links_.send(peer, {slot, length_of(offset, count)}, at(offset), sent_);
  }
  void recv(int peer, std::uint64_t slot, std::size_t offset, std::size_t count) override {
    links_.receive(peer, {slot, length_of(offset, count)}, at(offset), received_);
  }
  void recv(std::vector<int> /*peers*/, std::uint64_t /*slot*/, std::size_t /*offset*/, std::size_t /*count*/) override { unused(); }

 private:
  void* at(std::size_t offset) const { return static_cast<std::byte*>(ptr) + offset; }
  std::size_t length_of(std::size_t offset, std::size_t count) const { return count == kUnspecifiedByteCount ? size - offset : count; }

  Links& links_;
  Completions sent_ = 0;
  Completions received_ = 0;
  Completions sent_waited_for_ = 0;
  Completions received_waited_for_ = 0;
};

// Gloo only asks whether there is one.
class LinkPair final : public gloo::transport::Pair {
 public:
  const gloo::transport::Address& address() const override { unused(); }
  void connect(const std::vector<char>& /*bytes*/) override { unused(); }
  void close() override {}
  void setSync(bool /*enable*/, bool /*busy_poll*/) override { unused(); }
  std::unique_ptr<gloo::transport::Buffer> createSendBuffer(int /*slot*/, void* /*memory*/, std::size_t /*size*/) override { unused(); }
  std::unique_ptr<gloo::transport::Buffer> createRecvBuffer(int /*slot*/, void* /*memory*/, std::size_t /*size*/) override { unused(); }
  void send(gloo::transport::UnboundBuffer* /*buffer*/, std::uint64_t /*tag*/, std::size_t /*offset*/, std::size_t /*count*/) override {
    unused();
  }
  void recv(gloo::transport::UnboundBuffer* /*buffer*/, std::uint64_t /*tag*/, std::size_t /*offset*/, std::size_t /*count*/) override {
    unused();
  }
};

class LinkTransport final : public gloo::transport::Context {
 public:
  explicit LinkTransport(Links& links)
      : Context(links.rank(), links.size()), links_(links), pairs_of_links_(static_cast<std::size_t>(size)) {
    for (auto& pair : pairs_of_links_) pair = std::make_unique<LinkPair>();
  }

  std::unique_ptr<gloo::transport::Pair>& getPair(int peer) override { return pairs_of_links_[static_cast<std::size_t>(peer)]; }
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override { return getPair(peer); }
  std::unique_ptr<gloo::transport::UnboundBuffer> createUnboundBuffer(void* memory, std::size_t length) override {
    return std::make_unique<LinkBuffer>(links_, memory, length);
  }

 private:
  Links& links_;
  std::vector<std::unique_ptr<gloo::transport::Pair>> pairs_of_links_;
};

class LinkContext final : public gloo::Context {
 public:
  explicit LinkContext(Links& links) : Context(links.rank(), links.size()) { transportContext_ = std::make_shared<LinkTransport>(links); }
};

}  // namespace

std::shared_ptr<gloo::Context> gloo_context(Links& links) { return std::make_shared<LinkContext>(links); }

}  // namespace trireme::comm
