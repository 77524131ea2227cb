// SPDX-License-Identifier: Apache-2.0
// A way to start nodes on machines: each file of launchers/ is one.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/process.h"
#include "trireme/cluster/inventory/machine.h"
#include "trireme/cluster/launch/clock_limits.h"
#include "trireme/cluster/launch/hand_over.h"

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
// The machines of their first slots.
std::vector<Machine> machines_of(const std::vector<NodePlan>& plans);

// The arguments that make this program a node, "node" first; the same for all launchers.
std::vector<std::string> node_arguments(const NodePlan& plan);

// This program as a node, on the machine where the command runs.
std::vector<std::string> node_command(const NodePlan& plan, const LaunchOptions& options);

// A command as it could be typed into a shell, for --dry-run.
std::string as_typed(const std::vector<std::string>& command);

// An environment variable by its name; empty: it is not set. Handed in, so that nothing in here reads the environment.
using Environment = std::function<std::string(const char* name)>;
// A variable that is no whole number is 0.
std::int64_t whole_number(const Environment& environment, const char* name);

// What the user's flags say of nodes.
struct LauncherRequest {
  bool names_machines = false;
  std::int64_t nodes = 0;  // 0: not given
};

// Without a launcher's name: for machines that are named, and for this one.
inline constexpr std::string_view kRemoteLauncher = "ssh";
inline constexpr std::string_view kLocalLauncher = "local";

struct LauncherEntry {
  std::string_view name;
  std::string_view summary;
  // The command that starts `plan`'s node. Pure, so --dry-run and tests print exactly what would run.
  std::vector<std::string> (*command)(const NodePlan& plan, const LaunchOptions& options) = nullptr;
  // On other machines: the binary is shipped first, and the command is ssh's, whose code 255 means a failed connection.
  bool is_remote = false;
  bool takes_machines = false;  // those of --cluster, --hostfile or -H, and it needs them
  bool is_here = false;         // nodes are on this machine and find the coordinator at its loopback address
  bool keeps_nodes = true;      // they may outlive a coordinator that dies, and wait for the next one
  // If the environment speaks for this launcher: the notice for the user, maybe empty. Null: it never does.
  std::optional<std::string> (*applies)(const Environment& environment) = nullptr;
  // Throws invalid_argument if flags contradict it, failed_precondition if it can't be used here. Null: it always can.
  void (*check)(const LauncherRequest& request, const Environment& environment) = nullptr;
  // The machines that the environment gives it. Null: this machine, or those that it takes.
  Inventory (*machines)(const Environment& environment) = nullptr;
  // How the node ended, from how its command did; null: alike.
  ExitStatus (*of_node)(const ExitStatus& status) = nullptr;
};

namespace launchers {
const std::vector<LauncherEntry>& catalog();
}

const LauncherEntry& find_launcher(std::string_view name);

}  // namespace trireme::cluster
