// SPDX-License-Identifier: Apache-2.0
// Collectives of one generation's members: each must make the same calls in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/traffic.h"
#include "trireme/comm/cancellation.h"
#include "trireme/comm/peer_wait.h"
#include "trireme/comm/store.h"
#include "trireme/observe/spans.h"

namespace trireme::comm {

class MpiLibrary;

// ring and halving_doubling (bcube with base 2) are Gloo's. automatic is our own, with one or two steps whatever the number of members
// (see direct.h), or the ring for much data of many members.
enum class Algorithm { automatic, ring, halving_doubling };
// What values are rounded to before they are sent; nearest, ties to even.
enum class WireType { f32, bf16, f16 };

// Of what members send to each other. Members on one machine are distinguished by the addresses of their connection.
enum class Encryption { between_machines, always, never };

struct Group {
  int rank = 0;
  int size = 1;
  std::uint64_t generation = 0;  // keys in the store begin with it, so that a member of an older one is never met
  std::string address;           // of the interface to listen on, by which the others reach this member
  std::string channel;           // distinguishes communicators of the same members, e.g. one a thread
  std::string key;               // the job's; each pair proves to each other that it knows it before anything else is sent
  std::shared_ptr<const Cancellation> cancellation;           // ends every wait with `cancelled`; none: only peers and timeouts do
  std::function<void(const std::string&)> report_stranger{};  // of strangers who were sent away; may be empty
  std::shared_ptr<PeerWait> waits{};                          // is notified of waits that last; may be empty
  std::shared_ptr<TrafficCounter> traffic{};                  // counts what collectives send and receive, MPI's not; may be empty
  observe::Spans* spans = nullptr;                       // gets each message while it is on; may be null; must outlive the communicator
  Encryption encryption = Encryption::between_machines;  // never: messages are sealed only
  // Not empty: collectives are MPI's, between all processes of mpirun; store, address and key are not used.
  std::shared_ptr<MpiLibrary> mpi;
};

// Faults are Errors that name the rank: unavailable if a peer is gone or what it sent has changed on the way, deadline_exceeded if nothing
// has moved for the timeout, unauthenticated if it can't prove itself, invalid_argument if only one of two encrypts, internal if the
// members do not make the same calls. After any of them the communicator is good for nothing but destruction: its connections are closed
// already, so that all members learn of it within a round trip (to them this member is then the one that is gone), and further calls repeat
// the first fault. Every wait has a timeout; there is no "forever". It counts silence: a long transfer that moves is not interrupted. Not
// for several threads at once. No thread runs behind it: bytes move while a collective is being called. Each message is sealed, so that a
// byte that changes on its way is a fault and never a wrong sum, and encrypted, if the group says so.
class Communicator {
 public:
  // All members meet in `store`. With one member nothing listens and every collective returns at once.
  static Communicator connect(Store& store, const Group& group, Seconds timeout);
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  int rank() const;
  int size() const;
  int missed_peer() const;  // rank that the fault named as gone; -1: no fault, or it named none

  // Bytes per second to each member, as TCP sees it; 0: not known, or this member itself.
  std::vector<double> send_rates() const;

  struct Reduce {
    Algorithm algorithm = Algorithm::automatic;
    WireType wire = WireType::f32;
  };
  // Sums over the members, in place; all get the same bits. With MPI the algorithm is its own, and the wire type f32.
  void all_reduce(std::span<float> values, const Reduce& how, Seconds timeout);
  void all_reduce(std::span<double> values, Seconds timeout);
  void broadcast(std::span<std::byte> bytes, int root, Seconds timeout);
  // `all` is size() times as long as `mine`, in order of ranks.
  void all_gather(std::span<const double> mine, std::span<double> all, Seconds timeout);
  void barrier(Seconds timeout);

 private:
  struct State;
  explicit Communicator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trireme::comm
