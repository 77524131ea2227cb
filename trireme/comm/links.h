// SPDX-License-Identifier: Apache-2.0
// Messages between members, moved by the thread that waits for them: no other thread, no lock, no copy.
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/message_seal.h"
#include "trireme/base/traffic.h"
#include "trireme/comm/cancellation.h"
#include "trireme/comm/ciphers.h"
#include "trireme/comm/peer_wait.h"
#include "trireme/comm/proof.h"
#include "trireme/comm/socket.h"
#include "trireme/observe/spans.h"

namespace trireme::comm {

// Counts messages that are through; what waits for them looks at it.
using Completions = std::size_t;

// With a member that has proved itself.
struct Connection {
  Socket socket;
  PairKeys keys;
};

// Where messages are reported, while it is on.
struct LinkTrace {
  observe::Spans* spans = nullptr;
  std::uint64_t generation = 0;
};

// Over each connection messages arrive in the order in which they were sent, and must be received in that order: members make the
// same calls. Memory handed in must live until its message is through, or until a fault, after which nothing is touched any more.
class Links {
 public:
  struct Header {
    std::uint64_t tag = 0;  // equal at both ends, or the members have lost step
    std::uint64_t length = 0;
  };

  // Cancellation and spans, if any, must outlive it.
  Links(int rank, std::vector<Connection> connections, const Cancellation* cancellation = nullptr, LinkTrace trace = {});

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(peers_.size()); }

  void send(int peer, Header header, const void* memory, Completions& completions);
  void receive(int peer, Header header, void* memory, Completions& completions);
  // Until `completions` has reached `wanted`; deadline_exceeded if nothing at all moves for so long, unavailable if a peer is gone,
  // cancelled if the cancellation says so.
  void wait(const Completions& completions, Completions wanted);
  // How long is "so long".
  void set_patience(Seconds patience) { patience_ = patience; }
  // Waits of a second and more are noted there from now on; it must outlive this. May be null.
  void note_waits(PeerWait* waits) { waits_ = waits; }
  // Contents are counted there from now on; it must outlive this. May be null.
  void count_in(TrafficCounter* traffic) { traffic_ = traffic; }
  void close();                                     // all connections; what is on its way is forgotten
  double send_rate(int peer) const;                 // see delivery_rate.h; 0: no such connection
  int missed_peer() const { return missed_peer_; }  // by the fault; -1: none

 private:
  // On the wire: 24 bytes, the contents, encrypted or not, the seal of both.
  struct WireHeader {
    Header header;
    std::uint64_t check = 0;  // distinguishes a header that changed on its way from one that was not expected
  };
  struct Message {
    Header header;
    std::byte* memory;
    Completions* completions;
    WireHeader on_wire{};     // as it is sent, or has arrived
    MessageSeal::Tag seal{};  // the same
    std::size_t done = 0;     // of all three
    double begin = 0;         // when its first byte was moved, if a trace wants to know
    std::size_t length() const { return sizeof(WireHeader) + header.length + sizeof(MessageSeal::Tag); }
  };
  struct Peer {
    Socket socket;
    std::optional<MessageSeal> sending;
    std::optional<MessageSeal> receiving;
    std::optional<SendingCipher> encrypting;  // both instead of the seals
    std::optional<ReceivingCipher> decrypting;
    std::deque<Message> outgoing;
    std::deque<Message> incoming;
    std::uint64_t sent = 0;  // messages that are through, of each direction
    std::uint64_t received = 0;
  };

  bool progress();
  bool is_ready_in_time();
  void check_answers();
  void flush(int peer);
  void drain(int peer);
  ssize_t transfer(int peer, Message& message, bool outgoing);
  bool is_traced() const { return trace_.spans != nullptr && trace_.spans->is_on(); }
  void trace_message(int peer, const Message& message, bool outgoing, std::uint64_t number) const;
  static WireHeader with_check(const Header& header);
  static void protect(Peer& peer, const PairKeys& keys);
  static MessageSeal::Tag seal_of(MessageSeal& seal, const Message& message);
  static WireMessage wire_message_of(const Message& message);
  static void decrypt(Peer& peer, const Message& message);
  void check_header(int peer, const Message& message);
  void check_seal(int peer, const Message& message);
  [[noreturn]] void changed_on_its_way(int peer);
  std::string silent_peers() const;
  int awaited_peer() const;
  [[noreturn]] void fail(Error fault);

  int rank_;
  int missed_peer_ = -1;
  Seconds patience_{30};
  std::vector<Peer> peers_;
  const Cancellation* cancellation_;
  PeerWait* waits_ = nullptr;
  TrafficCounter* traffic_ = nullptr;
  LinkTrace trace_;
  std::vector<pollfd> polled_;  // the peers' sockets, then the cancellation
};

}  // namespace trireme::comm
