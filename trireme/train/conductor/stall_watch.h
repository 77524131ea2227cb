// SPDX-License-Identifier: Apache-2.0
// Which member stalls while others wait for it: decided from what all of them report, without a clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/coord/messages.h"

namespace trireme::train {

// A node that hangs (a read on a mount whose server is gone) still sends its heartbeats. It is found by three things together: it is in
// a phase in which it needs no other node, it has been there for longer than can be explained, and others wait.
class StallWatch {
 public:
  struct Member {
    std::string node;
    coord::Progress progress;  // as its last heartbeat had it
  };
  struct Stalled {
    std::string node;
    coord::Progress progress;
    std::string doing;  // "reading data"
    int waiting = 0;    // members
  };

  // `least` is how long a member may stay in a phase at any time; more if steps are seen to take longer.
  explicit StallWatch(Seconds least) : least_(least) {}

  // Everything that is known of the members now, in order of ranks, about once per second or more often.
  std::vector<Stalled> look(const std::vector<Member>& members);
  // All have been through every phase of a step, maybe between two heartbeats; the one that reports it was in them for so long.
  void on_step(Seconds reading, Seconds computing);
  void forget(const std::string& node) { last_.erase(node); }  // its next report says nothing about how long a phase takes

  // The member that one which could not reach `about` (empty: unknown) waited for in the end: in a ring its neighbour waits for another,
  // which works. None: unknown.
  static std::optional<std::string> awaited(const std::vector<Member>& members, const std::string& about);

  Seconds limit_of(std::string_view phase) const;

 private:
  void learn(const Member& member);
  void note(const std::string& phase, double seconds);
  bool is_confirmed(const Member& member);

  Seconds least_;
  std::map<std::string, coord::Progress> last_;         // of each node
  std::map<std::string, coord::Progress> suspects_;     // as they were when they first were over their limit
  std::map<std::string, double, std::less<>> longest_;  // seconds in each phase that came to an end
};

}  // namespace trireme::train
