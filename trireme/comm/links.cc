// SPDX-License-Identifier: Apache-2.0
// One poll over all connections; header and contents of a message pass in one system call.
#include "trireme/comm/links.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace trireme::comm {
namespace {

constexpr Seconds kLook{1};  // at whether machines still answer
constexpr Seconds kUnanswered{5};

// The rest of a header and its contents.
struct Pieces {
  std::array<iovec, 2> list{};
  std::size_t count = 0;
  std::size_t bytes = 0;

  void add(void* memory, std::size_t length, std::size_t done) {
    if (done >= length) return;
    list[count++] = {static_cast<std::byte*>(memory) + done, length - done};
    bytes += length - done;
  }
};

}  // namespace

Links::Links(int rank, std::vector<Socket> sockets, const Cancellation* cancellation)
    : rank_(rank), peers_(sockets.size()), cancellation_(cancellation), polled_(sockets.size() + 1) {
  for (std::size_t i = 0; i < sockets.size(); ++i) peers_[i].socket = std::move(sockets[i]);
}

// Usually the socket takes it at once; the rest is for `wait`.
void Links::send(int peer, Header header, const void* memory, Completions& completions) {
  auto& queue = peers_[static_cast<std::size_t>(peer)].outgoing;
  queue.push_back({header, static_cast<std::byte*>(const_cast<void*>(memory)), &completions, {}});
  if (queue.size() == 1) flush(peer);
}

void Links::receive(int peer, Header header, void* memory, Completions& completions) {
  peers_[static_cast<std::size_t>(peer)].incoming.push_back({header, static_cast<std::byte*>(memory), &completions, {}});
}

void Links::wait(const Completions& completions, Completions wanted) {
  while (completions < wanted)
    if (!progress()) fail({deadline_exceeded, "{} kept silent for {:g} s", silent_peers(), patience_.count()});
}

// False if nothing could be moved for so long. A connection that is not needed now is not looked at: its other end may have finished.
bool Links::progress() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto& peer = peers_[i];
    const int events = (peer.incoming.empty() ? 0 : POLLIN) | (peer.outgoing.empty() ? 0 : POLLOUT);
    polled_[i] = {.fd = events == 0 ? -1 : peer.socket.descriptor(), .events = static_cast<short>(events), .revents = 0};
  }
  polled_.back() = {.fd = cancellation_ == nullptr ? -1 : cancellation_->descriptor(), .events = POLLIN, .revents = 0};
  int ready = 0;
  for (Seconds waited{0}; ready == 0; waited += kLook) {
    if (waited >= patience_) return false;
    ready = ::poll(polled_.data(), polled_.size(), static_cast<int>(milliseconds_of(std::min(kLook, patience_ - waited)).count()));
    if (ready == 0) check_answers();
  }
  if (polled_.back().revents != 0) fail({cancelled, "this generation is over"});
  for (std::size_t i = 0; i < peers_.size() && ready > 0; ++i) {
    const int events = polled_[i].revents;
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) drain(static_cast<int>(i));
    if ((events & POLLOUT) != 0) flush(static_cast<int>(i));
  }
  return true;
}

void Links::check_answers() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (polled_[i].fd < 0 || is_answered(peers_[i].socket, kUnanswered)) continue;
    missed_peer_ = static_cast<int>(i);
    fail({unavailable, "rank {} is gone: its machine has acknowledged nothing for {:g} s", i, kUnanswered.count()});
  }
}

void Links::flush(int peer) {
  auto& queue = peers_[static_cast<std::size_t>(peer)].outgoing;
  while (!queue.empty() && transfer(peer, queue.front(), true) > 0) {
    if (queue.front().done < sizeof(Header) + queue.front().header.length) continue;
    ++*queue.front().completions;
    queue.pop_front();
  }
}

void Links::drain(int peer) {
  auto& queue = peers_[static_cast<std::size_t>(peer)].incoming;
  while (!queue.empty() && transfer(peer, queue.front(), false) > 0) {
    Message& message = queue.front();
    if (message.done >= sizeof(Header)) check_arrived(peer, message);
    if (message.done < sizeof(Header) + message.header.length) continue;
    ++*message.completions;
    queue.pop_front();
  }
}

// How many bytes went through, 0 if the socket can't just now.
ssize_t Links::transfer(int peer, Message& message, bool outgoing) {
  Pieces pieces;
  pieces.add(outgoing ? &message.header : &message.arrived, sizeof(Header), message.done);
  pieces.add(message.memory, message.header.length, std::max(message.done, sizeof(Header)) - sizeof(Header));
  msghdr envelope{};
  envelope.msg_iov = pieces.list.data();
  envelope.msg_iovlen = pieces.count;
  const int descriptor = peers_[static_cast<std::size_t>(peer)].socket.descriptor();
  const ssize_t moved = outgoing ? ::sendmsg(descriptor, &envelope, MSG_NOSIGNAL) : ::recvmsg(descriptor, &envelope, 0);
  if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (moved <= 0) missed_peer_ = peer;
  if (moved < 0) fail({unavailable, "rank {} is gone: {}", peer, std::strerror(errno)});
  if (moved == 0) fail({unavailable, "rank {} is gone: it has closed the connection", peer});
  message.done += static_cast<std::size_t>(moved);
  return moved;
}

void Links::check_arrived(int peer, const Message& message) {
  if (message.arrived.tag == message.header.tag && message.arrived.length == message.header.length) return;
  fail({internal, "rank {} has sent {} bytes with tag {:x} where {} with tag {:x} were due: the members do not make the same calls", peer,
        message.arrived.length, message.arrived.tag, message.header.length, message.header.tag});
}

std::string Links::silent_peers() const {
  std::string ranks;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (!peers_[i].incoming.empty() || !peers_[i].outgoing.empty()) ranks += fmt::format("{}{}", ranks.empty() ? "rank " : ", ", i);
  return ranks;
}

void Links::close() {
  for (auto& peer : peers_) peer = {};
}

// Closing all at once tells the other members within a round trip, however few of them were waiting for the one that failed.
void Links::fail(Error fault) {
  close();
  throw Error{std::move(fault)};
}

}  // namespace trireme::comm
