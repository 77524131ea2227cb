// SPDX-License-Identifier: Apache-2.0
// A way to start nodes on machines: each file of launchers/ is one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/inventory/machine.h"
#include "trireme/cluster/launch/clock_limits.h"
#include "trireme/cluster/launch/hand_over.h"
#include "trireme/cluster/process/process.h"

namespace trireme::cluster {

// A node that is to be started.
struct NodePlan {
  std::string name;  // "0", "1" ...: unique in the job
  Machine machine;
  std::int64_t slot = 0;               // which of the machine's nodes
  std::int64_t threads = 0;            // 0: all of the machine's cores
  bool has_shipped_libraries = false;  // beside the binary on that machine (shipping.h)
  double keep = 0;                     // seconds that it waits for a coordinator that is gone without a word
  std::filesystem::path events;        // folder for its event journal; empty: none
};

struct LaunchOptions {
  std::filesystem::path binary;       // this program
  std::string binary_hash;            // its SHA-256, for launchers that ship it
  std::filesystem::path secret_file;  // for nodes that hand a secret on to others; only this user can read it
  std::vector<std::string> ssh_args;  // more arguments for ssh, e.g. -F config; they can't weaken its checks
  SshSettings ssh;                    // of the cluster's description
  bool accept_new_hosts = false;      // host keys never seen before; a changed one is always refused
  std::int64_t connect_timeout = 10;  // seconds
  ClockLimits clock;                  // of machines that the program is shipped to
  HandOver hand_over;                 // of what nodes read from their standard input
};

// One node a slot, named by their ranks, in the machines' order. Of each machine `threads` (0: all its cores) are divided among its
// nodes.
std::vector<NodePlan> plan_nodes(const std::vector<Machine>& machines, std::int64_t threads = 0);

// The arguments that make this program a node, "node" first; the same for all launchers.
std::vector<std::string> node_arguments(const NodePlan& plan);

// A command as it could be typed into a shell, for --dry-run.
std::string as_typed(const std::vector<std::string>& command);

struct LauncherEntry {
  std::string_view name;
  std::string_view summary;
  // The command that starts `plan`'s node. Pure, so --dry-run and tests print exactly what would run.
  std::vector<std::string> (*command)(const NodePlan& plan, const LaunchOptions& options) = nullptr;
  // On other machines: the binary is shipped first, and the command is ssh's, whose code 255 tells of the connection.
  bool is_remote = false;
  // How the node ended, told from how its command did; none: alike.
  ExitStatus (*of_node)(const ExitStatus& status) = nullptr;
};

namespace launchers {
const std::vector<LauncherEntry>& catalog();
}

}  // namespace trireme::cluster
