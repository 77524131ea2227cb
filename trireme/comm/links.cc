// SPDX-License-Identifier: Apache-2.0
// One poll over all connections; header, contents and seal of a message pass in one system call.
#include "trireme/comm/links.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "trireme/base/crc32c.h"
#include "trireme/comm/delivery_rate.h"

namespace trireme::comm {
namespace {

constexpr Seconds kLook{1};  // at whether machines still answer
constexpr Seconds kUnanswered{5};

// What is still to be moved of a message.
struct Pieces {
  std::array<iovec, 3> list{};
  std::size_t count = 0;
  std::size_t done;  // bytes of the message that were moved before

  void add(void* memory, std::size_t length) {
    if (done < length) list[count++] = {static_cast<std::byte*>(memory) + done, length - done};
    done -= std::min(done, length);
  }
  void add(std::span<const std::byte> bytes) { add(const_cast<std::byte*>(bytes.data()), bytes.size()); }
};

}  // namespace

Links::Links(int rank, std::vector<Connection> connections, const Cancellation* cancellation, LinkTrace trace)
    : rank_(rank), peers_(connections.size()), cancellation_(cancellation), trace_(trace), polled_(connections.size() + 1) {
  for (std::size_t i = 0; i < connections.size(); ++i) {
    if (!connections[i].socket.open()) continue;
    peers_[i].socket = std::move(connections[i].socket);
    protect(peers_[i], connections[i].keys);
  }
}

void Links::protect(Peer& peer, const PairKeys& keys) {
  if (keys.encrypt) {
    peer.encrypting.emplace(keys.sending);
    peer.decrypting.emplace(keys.receiving);
  } else {
    peer.sending.emplace(keys.sending);
    peer.receiving.emplace(keys.receiving);
  }
}

// Of two numbers that both ends know: a few bits are enough, the seal is what counts against a deliberate change.
Links::WireHeader Links::with_check(const Header& header) {
  return {header, crc32c({reinterpret_cast<const char*>(&header), sizeof header})};
}

MessageSeal::Tag Links::seal_of(MessageSeal& seal, const Message& message) {
  return seal.next(std::as_bytes(std::span(&message.header, 1)), {message.memory, message.header.length});
}

WireMessage Links::wire_message_of(const Message& message) {
  return {.header = std::as_bytes(std::span(&message.on_wire, 1)),
          .covered = std::as_bytes(std::span(&message.header, 1)),
          .contents = {message.memory, message.header.length}};
}

// While the next bytes are on their way.
void Links::decrypt(Peer& peer, const Message& message) {
  const std::size_t arrived = std::min<std::size_t>(message.done - sizeof(WireHeader), message.header.length);
  if (peer.decrypting) peer.decrypting->decrypt(std::as_bytes(std::span(&message.header, 1)), message.memory, arrived);
}

// Usually the socket takes it at once; the rest is for `wait`.
void Links::send(int peer, Header header, const void* memory, Completions& completions) {
  Peer& to = peers_[static_cast<std::size_t>(peer)];
  if (!to.socket.open()) fail({unavailable, "the connection to rank {} is closed", peer});
  if (to.encrypting && header.length > MessageCipher::kMaxMessageBytes)
    fail({unimplemented, "{} bytes are too many for one encrypted message; set strategy.encrypt = false for a model of this size",
          header.length});
  Message& message =
      to.outgoing.emplace_back(Message{header, static_cast<std::byte*>(const_cast<void*>(memory)), &completions, with_check(header)});
  if (to.sending) message.seal = seal_of(*to.sending, message);
  if (traffic_ != nullptr) traffic_->count_sent(header.length);
  if (to.outgoing.size() == 1) flush(peer);
}

void Links::receive(int peer, Header header, void* memory, Completions& completions) {
  if (traffic_ != nullptr) traffic_->count_received(header.length);
  peers_[static_cast<std::size_t>(peer)].incoming.push_back({header, static_cast<std::byte*>(memory), &completions});
}

void Links::wait(const Completions& completions, Completions wanted) {
  while (completions < wanted)
    if (!progress()) {
      missed_peer_ = awaited_peer();
      fail({deadline_exceeded, "{} kept silent for {:g} s", silent_peers(), patience_.count()});
    }
}

// False if nothing could be moved for so long. A connection that is not needed now is not looked at: its other end may have finished.
bool Links::progress() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto& peer = peers_[i];
    const int events = (peer.incoming.empty() ? 0 : POLLIN) | (peer.outgoing.empty() ? 0 : POLLOUT);
    polled_[i] = {.fd = events == 0 ? -1 : peer.socket.descriptor(), .events = static_cast<short>(events), .revents = 0};
  }
  polled_.back() = {.fd = cancellation_ == nullptr ? -1 : cancellation_->descriptor(), .events = POLLIN, .revents = 0};
  if (!is_ready_in_time()) return false;
  if (polled_.back().revents != 0) fail({cancelled, "this generation is over"});
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const int events = polled_[i].revents;
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) drain(static_cast<int>(i));
    if ((events & POLLOUT) != 0) flush(static_cast<int>(i));
  }
  return true;
}

bool Links::is_ready_in_time() {
  std::optional<PeerWait::Scope> noted;
  for (Seconds waited{0}; waited < patience_; waited += kLook) {
    const Seconds look = std::min(kLook, patience_ - waited);
    if (::poll(polled_.data(), polled_.size(), static_cast<int>(milliseconds_of(look).count())) != 0) return true;
    if (!noted) noted.emplace(waits_, awaited_peer());
    check_answers();
  }
  return false;
}

double Links::send_rate(int peer) const {
  const Socket& socket = peers_[static_cast<std::size_t>(peer)].socket;
  return socket.open() ? delivery_rate(socket) : 0;
}

void Links::check_answers() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (polled_[i].fd < 0 || is_answered(peers_[i].socket, kUnanswered)) continue;
    missed_peer_ = static_cast<int>(i);
    fail({unavailable, "rank {} is gone: its machine has acknowledged nothing for {:g} s", i, kUnanswered.count()});
  }
}

void Links::flush(int peer) {
  Peer& to = peers_[static_cast<std::size_t>(peer)];
  auto& queue = to.outgoing;
  while (!queue.empty() && transfer(peer, queue.front(), true) > 0) {
    if (queue.front().done < queue.front().length()) continue;
    trace_message(peer, queue.front(), true, ++to.sent);
    ++*queue.front().completions;
    queue.pop_front();
  }
}

void Links::drain(int peer) {
  Peer& from = peers_[static_cast<std::size_t>(peer)];
  auto& queue = from.incoming;
  while (!queue.empty() && transfer(peer, queue.front(), false) > 0) {
    Message& message = queue.front();
    if (message.done < sizeof(WireHeader)) continue;
    check_header(peer, message);
    decrypt(from, message);
    if (message.done < message.length()) continue;
    check_seal(peer, message);
    trace_message(peer, message, false, ++from.received);
    ++*message.completions;
    queue.pop_front();
  }
}

// How many bytes went through, 0 if the socket can't just now.
ssize_t Links::transfer(int peer, Message& message, bool outgoing) {
  Peer& other = peers_[static_cast<std::size_t>(peer)];
  const bool encrypts = outgoing && other.encrypting;
  Pieces pieces{.done = encrypts ? 0 : message.done};
  if (encrypts) {
    pieces.add(other.encrypting->pending(wire_message_of(message)));
  } else {
    pieces.add(&message.on_wire, sizeof(WireHeader));
    pieces.add(message.memory, message.header.length);
    pieces.add(&message.seal, sizeof(message.seal));
  }
  msghdr envelope{};
  envelope.msg_iov = pieces.list.data();
  envelope.msg_iovlen = pieces.count;
  const int descriptor = other.socket.descriptor();
  const double begin = message.begin == 0 && is_traced() ? SteadyClock().now().count() : message.begin;
  const ssize_t moved = outgoing ? ::sendmsg(descriptor, &envelope, MSG_NOSIGNAL) : ::recvmsg(descriptor, &envelope, 0);
  if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (moved <= 0) missed_peer_ = peer;
  if (moved < 0) fail({unavailable, "rank {} is gone: {}", peer, std::strerror(errno)});
  if (moved == 0) fail({unavailable, "rank {} is gone: it has closed the connection", peer});
  if (encrypts) other.encrypting->sent(static_cast<std::size_t>(moved));
  message.done += static_cast<std::size_t>(moved);
  message.begin = begin;
  return moved;
}

// The same number at both ends, since messages arrive in the order in which they were sent.
void Links::trace_message(int peer, const Message& message, bool outgoing, std::uint64_t number) const {
  if (message.begin == 0 || !is_traced()) return;
  const auto here = static_cast<std::uint64_t>(rank_);
  const auto there = static_cast<std::uint64_t>(peer);
  const std::uint64_t flow = observe::flow_of("message", trace_.generation, outgoing ? here : there, outgoing ? there : here, number);
  trace_.spans->add({.name = outgoing ? "send" : "receive",
                     .category = "message",
                     .track = fmt::format("{} rank {}", outgoing ? "to" : "from", peer),
                     .begin = message.begin,
                     .end = SteadyClock().now().count(),
                     .sends = outgoing ? flow : 0,
                     .receives = outgoing ? 0 : flow,
                     .bytes = static_cast<std::int64_t>(message.header.length)});
}

void Links::check_header(int peer, const Message& message) {
  const Header& arrived = message.on_wire.header;
  if (message.on_wire.check != with_check(arrived).check) changed_on_its_way(peer);
  if (arrived.tag == message.header.tag && arrived.length == message.header.length) return;
  fail({internal, "rank {} has sent {} bytes with tag {:x} where {} with tag {:x} were due: the members do not make the same calls", peer,
        arrived.length, arrived.tag, message.header.length, message.header.tag});
}

void Links::check_seal(int peer, const Message& message) {
  Peer& from = peers_[static_cast<std::size_t>(peer)];
  const bool genuine =
      from.decrypting ? from.decrypting->is_genuine(message.seal) : MessageSeal::equal(message.seal, seal_of(*from.receiving, message));
  if (!genuine) changed_on_its_way(peer);
}

void Links::changed_on_its_way(int peer) {
  fail({unavailable, "what rank {} has sent was changed on its way: its connection is given up; look at the network between us", peer});
}

std::string Links::silent_peers() const {
  std::string ranks;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (!peers_[i].incoming.empty() || !peers_[i].outgoing.empty()) ranks += fmt::format("{}{}", ranks.empty() ? "rank " : ", ", i);
  return ranks;
}

// The first of those whose data this one needs; it may itself be waiting for another. -1: none.
int Links::awaited_peer() const {
  const auto sends = std::ranges::find_if(peers_, [](const Peer& peer) { return !peer.incoming.empty(); });
  const auto takes = std::ranges::find_if(peers_, [](const Peer& peer) { return !peer.outgoing.empty(); });
  const auto found = sends != peers_.end() ? sends : takes;
  return found == peers_.end() ? -1 : static_cast<int>(found - peers_.begin());
}

void Links::close() {
  for (auto& peer : peers_) peer = {};
}

// Closing all at once informs the other members within a round trip, however few of them were waiting for the one that failed.
void Links::fail(Error fault) {
  close();
  throw Error{std::move(fault)};
}

}  // namespace trireme::comm
