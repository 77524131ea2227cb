// SPDX-License-Identifier: Apache-2.0
// Everything the conductor knows of each node: is it here, which rank has it, how often did it fail, when may it be started again.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/coord/messages.h"

namespace trireme::train {

// A node that fails is left alone for a pause that doubles each time. Progress resets it.
struct Node {
  enum class Presence {
    absent,
    preparing,  // connected: it stages data and compiles
    ready,
    stalled,  // connected, but it does not move: no member before it does
  };
  enum class Process { none, starting, running };  // started from here; starting: it has not joined yet

  void on_launched() { process = Process::starting; }
  void on_joined(const coord::NodeInfo& joined);
  void on_ready();
  bool on_lost(Seconds now);  // it is not here any more; true if it was until now
  void on_process_ended(Seconds now);
  void pause(Seconds now);  // no member, and not started, before a time that doubles
  bool is_available(Seconds now) const { return presence == Presence::ready && !is_excluded && now >= not_before; }
  std::string host() const { return info ? info->host : ""; }

  Presence presence = Presence::absent;
  Process process = Process::none;
  std::optional<coord::NodeInfo> info;  // none: it never joined
  std::optional<int> rank;              // none: not a member of the current generation
  bool is_excluded = false;             // for good
  bool is_leaving = false;              // it was asked to leave, and waits for the next boundary
  bool ran_out_of_memory = false;       // the system ended it for that, and it has not progressed since
  int failures = 0;                     // in a row: the pause follows from them
  int deaths = 0;                       // of these, after it had joined: a machine that can't be reached is retried without limit
  int strikes = 0;                      // peer reports that it could not be reached, in a row
  Seconds not_before{0};
  std::string last_error;  // why it is not here
};

struct NodeTableOptions {
  std::vector<std::string> nodes;   // that take part, in order of ranks
  int restarts = 3;                 // of a node, in a row, without progress in between
  std::set<std::string> startable;  // nodes that can be started from here
};

// A node that has joined and died too often is not started any more. If it joins by itself it is accepted after its pause.
class NodeTable {
 public:
  NodeTable(NodeTableOptions options, const Clock& clock);

  Node& at(const std::string& node);                // added if it is new
  const Node* find(const std::string& node) const;  // none: unknown
  const std::vector<std::string>& names() const { return options_.nodes; }
  void add_startable(const std::string& node);
  void assign_ranks(const std::vector<std::string>& members);
  void on_progress();  // of the members: earlier failures are forgiven

  std::vector<std::string> members() const;          // of the current generation, in order of ranks
  std::vector<std::string> available() const;        // could be members now
  std::vector<std::string> due() const;              // should be started now
  std::size_t present() const;                       // are connected, or were started
  bool is_left_out(const std::string& node) const;   // it is not waited for
  std::string title(const std::string& node) const;  // "rank 1 on lab2", "node 4 on lab3"

 private:
  bool is_spent(const Node& node) const { return node.deaths > options_.restarts; }

  NodeTableOptions options_;
  const Clock& clock_;
  std::map<std::string, Node> nodes_;
};

}  // namespace trireme::train
