// SPDX-License-Identifier: Apache-2.0
// Which member this one waits for just now: noted by the thread that waits, asked by any other.
#pragma once

#include <atomic>

namespace trireme::comm {

class PeerWait {
 public:
  static constexpr int kNobody = -1;
  static constexpr int kSomebody = -2;  // one of them; which, only they know

  void begin(int peer) { peer_ = peer; }
  void end() { peer_ = kNobody; }
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
    int before_ = kNobody;
  };

  // The member that a rendezvous missed: there is no communicator then that could be asked.
  void miss(int peer) { missed_ = peer; }
  int take_missed() { return missed_.exchange(kNobody); }

 private:
  std::atomic<int> peer_{kNobody};
  std::atomic<int> missed_{kNobody};
};

}  // namespace trireme::comm
