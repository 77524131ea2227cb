// SPDX-License-Identifier: Apache-2.0
// Hosts on this machine: each with its own network, processes, home folder and a real sshd, joined by a bridge.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/hosts/packet_relay.h"
#include "trireme/base/process.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::tests {

struct HostOptions {
  std::string rate;                           // of its link, both ways, as tc writes it: "1gbit"; empty: as fast as it goes
  std::vector<std::string> hidden_libraries;  // files of the system's library folder that this host shall lack
  std::int64_t home_mb = 0;                   // size of its home's file system; 0: no limit of its own
};

// Needs root and the programs ip, tc, unshare, nsenter, sshd and ssh-keygen; without them the constructor throws. Hosts
// are gone with this process, however it ends: their processes at once, the rest when the next TestHosts is made.
class TestHosts {
 public:
  explicit TestHosts(int count, const HostOptions& all = {});
  explicit TestHosts(const std::vector<HostOptions>& hosts);
  ~TestHosts();
  TestHosts(const TestHosts&) = delete;
  TestHosts& operator=(const TestHosts&) = delete;

  std::size_t size() const;
  std::string address(std::size_t host) const;
  std::string own_address() const;                     // of this machine, in the hosts' network
  std::string free_address() const;                    // of the same network, but no host has it
  std::filesystem::path home(std::size_t host) const;  // as seen from here; what is written there is in the host's home
  std::filesystem::path folder() const;                // of keys and configurations

  cluster::Machine machine(std::size_t host) const;
  std::vector<cluster::Machine> machines() const;
  cluster::LaunchOptions launch_options(const std::filesystem::path& binary) const;  // with -F to a client configuration
  std::filesystem::path cluster_file() const;                                        // a cluster.toml with all of them

  ProcessOutput run(std::size_t host, const std::vector<std::string>& argv) const;  // on the host, as root
  std::vector<std::string> processes(std::size_t host) const;                       // command lines of what runs there, sshd's own left out
  std::vector<pid_t> pids(std::size_t host, std::string_view program) const;        // as seen from here; of processes with that name
  // Nothing reaches the host any more and nothing leaves it, without a word: packets are dropped, links stay up.
  void cut(std::size_t host);
  enum class Direction { in, out };
  void cut(std::size_t host, Direction direction);              // of what the host receives, or sends
  void cut(std::size_t host, std::size_t other);                // between these two only, both ways
  void cut_from_owner(std::size_t host);                        // from this machine only
  void lose(std::size_t host, int percent);                     // of what it receives, at random
  void heal(std::size_t host);                                  // ends all cuts, losses and delays made at this host
  void slow(std::size_t host, const std::string& rate);         // its link, both ways, from now on; as tc writes it
  void delay(std::size_t host, const PacketRelayOptions& how);  // of what it sends, from now on
  void unplug(std::size_t host);                                // its link goes down; heal brings it back
  void power_off(std::size_t host);                             // its processes end, its link is dead, and it does not come back
  void change_host_key(std::size_t host);                       // as if the machine had been set up anew
  void forget_host_key(std::size_t host);                       // as if the client had never seen it
  void refuse_client_key(std::size_t host);

  // Ends what dead processes left behind.
  static void clean_leftovers();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::tests
