// SPDX-License-Identifier: Apache-2.0
// What the conductor knows of each node: is it here, how often did it fail, when may it be started again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/coord/messages.h"

namespace trireme::train {

struct RollOptions {
  std::vector<std::string> nodes;   // that take part, in order of ranks
  int restarts = 3;                 // of a node, in a row, without progress in between
  std::set<std::string> startable;  // nodes that can be started from here
};

// A node that fails is left alone for a pause that doubles each time; one that has come and failed too often is not started any more.
// If it comes by itself it is welcome after its pause. Progress forgives.
class Roll {
 public:
  Roll(RollOptions options, const Clock& clock);

  void add(const std::string& node);  // one more, that can be started from here
  void launched(const std::string& node);
  void came(const std::string& node, const coord::NodeInfo& info);
  void ready(const std::string& node);
  bool went(const std::string& node);  // it is not here any more; true if that is news
  void process_ended(const std::string& node);
  void leave_out(const std::string& node);  // for good
  void exclude(const std::string& node);    // it is here, but the others can't work with it: not before a pause
  void stall(const std::string& node);      // it is here, but stands still: not before it moves
  void moved(const std::string& node);
  void progressed(const std::string& node);

  bool is_ready(const std::string& node) const;
  bool is_stalled(const std::string& node) const;
  bool is_left_out(const std::string& node) const;  // nobody waits for it
  int failures(const std::string& node) const;
  const coord::NodeInfo* info(const std::string& node) const;  // none: it never came
  std::size_t present() const;                                 // are here, or on their way
  std::vector<std::string> all() const;                        // in order of ranks
  std::vector<std::string> available() const;                  // could be members now
  std::vector<std::string> due() const;                        // should be started now

 private:
  struct Node {
    coord::NodeInfo info;
    bool has_come = false;
    bool is_here = false;
    bool is_ready = false;
    bool is_stalled = false;
    bool has_process = false;  // started from here, and not known to have ended ...
    bool is_expected = false;  // ... and has not come yet
    bool is_out = false;       // for good
    int failures = 0;          // in a row: the pause follows from them
    int deaths = 0;            // of these, after it had come: a machine that can't be reached is tried again and again
    Seconds not_before{0};
  };
  Node& at(const std::string& node);
  const Node* find(const std::string& node) const;
  void fail(Node& node) const;
  bool is_spent(const Node& node) const { return node.deaths > options_.restarts; }

  RollOptions options_;
  const Clock& clock_;
  std::map<std::string, Node> nodes_;
};

}  // namespace trireme::train
