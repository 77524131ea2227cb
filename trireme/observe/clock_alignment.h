// SPDX-License-Identifier: Apache-2.0
// Clocks of nodes, put right by what they sent to each other: nothing arrives before it was sent.
#pragma once

#include <map>
#include <string>

namespace trireme::observe {

// Clocks that were corrected by round trips are still wrong by some of their length, which is more than a message takes on a fast
// network. Each node's clock is moved by as little as makes every message arrive at least a nanosecond after it was sent, if one can.
class ClockAlignment {
 public:
  void sent(const std::string& message, int node, double begin);
  void received(const std::string& message, int node, double end);
  // Seconds to be added to each node's times. Nodes are put right one after another, the first not at all.
  std::map<int, double> shifts() const;
  bool is_complete(const std::string& message) const;  // both ends are known

 private:
  struct Message {
    int from = -1, to = -1;
    double begin = 0, end = 0;
  };
  std::map<std::string, Message> messages_;
};

}  // namespace trireme::observe
