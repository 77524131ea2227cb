// SPDX-License-Identifier: Apache-2.0
// How two members prove to each other that they know the job's key, before anything else is sent.
#pragma once

#include <optional>
#include <string>

#include "trireme/comm/communicator.h"
#include "trireme/comm/deadline.h"
#include "trireme/comm/socket.h"

namespace trireme::comm {

// caller -> host: hello (name of the protocol, generation, rank of the caller, nonce)
// host -> caller: nonce, HMAC over both hellos and ranks
// caller -> host: HMAC the other way round
// host -> caller: one byte: you are in
// All have fixed lengths, so a stranger can make no member read or keep more than that.
// Whether messages are then encrypted is said nowhere: each end knows it from its settings and the two addresses, and it is a part of what
// both HMACs and the keys are made of. So nothing that is changed on the way can talk them out of it.

// What both ends know afterwards and no one else, new for each connection: what messages are sealed or encrypted with.
struct PairKeys {
  std::string sending;
  std::string receiving;
  bool encrypt = false;
};

// The caller's side, with a member whose address came from the store. Throws unauthenticated if that does not know the key,
// invalid_argument if it does but would encrypt while this member would not, or the other way round.
PairKeys prove_to_host(const Socket& socket, const Group& group, int host, const Deadline& deadline);

// The host's side, fed with what arrives, because many strangers may be silent at the same time.
class Visitor {
 public:
  Visitor(Socket socket, const Group& group, const Deadline& deadline);

  const Socket& socket() const { return socket_; }
  Socket take_socket() { return std::move(socket_); }
  const Deadline& deadline() const { return deadline_; }
  const std::string& address() const { return address_; }
  PairKeys keys() const;  // once it has proved its rank

  // Reads what has come; the caller's rank once it has proved it. Throws unauthenticated or unavailable: send it away;
  // invalid_argument: a member with other settings.
  std::optional<int> advance();

 private:
  void answer_hello();
  int check_proof();

  Socket socket_;
  const Group& group_;
  Deadline deadline_;
  bool encrypt_;
  std::string address_;
  std::string received_;
  std::string hello_;
  std::string nonce_;
  int rank_ = -1;
};

}  // namespace trireme::comm
