// SPDX-License-Identifier: Apache-2.0
// A job's nodes, started by a launcher: their lines, their exits, and their sure end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/process.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster {

struct NodeExit {
  std::string node;
  std::string machine;
  ExitStatus status;
  std::string words;           // "killed by SIGKILL"; for a remote node also what is known of the connection
  bool by_itself = false;      // with a code of its own, after it has said why
  bool out_of_memory = false;  // the kernel ended it for that; known of nodes on this machine
};

// Called from threads of the launch, one call at a time; they must not throw nor destroy the launch.
struct LaunchEvents {
  std::function<void(std::string_view node, std::string_view line)> on_line;
  std::function<void(const NodeExit&)> on_exit;
};

class Launch {
 public:
  struct Node {
    NodePlan plan;
    std::string input;  // for the node's standard input, which then stays open; may hold secrets
  };

  // Starts all nodes; if one can't be started, the others are ended and the reason is thrown.
  Launch(const LauncherEntry& launcher, LaunchOptions options, std::vector<Node> nodes, LaunchEvents events);
  ~Launch();  // as end() with a short grace
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // One more, or one again: a process that the node had before is ended first. Not from several threads at once.
  void start(Node node);

  std::vector<NodeExit> exits() const;               // so far, in their order
  bool wait_for(std::chrono::milliseconds timeout);  // for all nodes; false: some still run

  // Closes every node's input, upon which it leaves; a node that is there after `grace` is asked to end, then killed. The
  // whole takes at most `grace` and a few seconds.
  void end(std::chrono::milliseconds grace);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster
