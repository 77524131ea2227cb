// SPDX-License-Identifier: Apache-2.0
// Which member this one waits for just now: noted by the thread that waits, asked by any other.
#pragma once

#include <atomic>

namespace trireme::comm {

class PeerWait {
 public:
  static constexpr int kNoPeer = -1;
  static constexpr int kUnknownPeer = -2;  // one of them; which, only they know

  void begin(int peer) { peer_ = peer; }
  void end() { peer_ = kNoPeer; }
  int peer() const { return peer_; }

  // A wait that may throw. Without a PeerWait it notes nothing.
  class Scope {
   public:
    Scope(PeerWait* wait, int peer) : wait_(wait) {
      if (wait_ != nullptr) before_ = wait_->peer_.exchange(peer);
    }
    ~Scope() {
      if (wait_ != nullptr) wait_->begin(before_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PeerWait* wait_;
    int before_ = kNoPeer;
  };

  // The member that a rendezvous missed: there is no communicator then that could be asked.
  void on_missed(int peer) { missed_ = peer; }
  int reset_missed() { return missed_.exchange(kNoPeer); }

 private:
  std::atomic<int> peer_{kNoPeer};
  std::atomic<int> missed_{kNoPeer};
};

}  // namespace trireme::comm
