// SPDX-License-Identifier: Apache-2.0
// Which nodes of a generation hold parameters, and which compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/train/job/parameter_server_options.h"
#include "trireme/train/team/team.h"

namespace trireme::train {

struct ServerRoles {
  std::vector<int> servers;   // ranks, in the order of their numbers; the first one leads
  std::vector<int> workers;   // ranks
  bool resumes = false;       // the servers are those of before, with all they hold ...
  std::uint64_t lineage = 0;  // ... since this generation

  int lead() const { return servers.front(); }
  int server_of(int rank) const;  // its number; -1: it is none
  int worker_of(int rank) const;
};

// The first nodes hold the parameters. At least one node computes.
ServerRoles plan_roles(const ServerPlacement& placement, int nodes);

// What a node brings along from the generation before.
struct Holding {
  std::uint64_t lineage = 0;  // generation in which these parameters were handed out; 0: it holds nothing
  int server = -1;            // its number there
  int servers = 0;            // how many there were
  std::uint64_t seen = 0;     // the last generation that it was in
};

// The last generation that any node was in. A node that was not in it has slept while others went on: what it holds is void.
std::uint64_t newest_seen(const std::vector<Holding>& holdings);

// The nodes that hold the newest parameters keep them if none of them is missing.
ServerRoles choose_roles(const ServerPlacement& placement, std::vector<Holding> holdings);

// All nodes together.
std::vector<Holding> gather_holdings(Team& team, const Holding& own);

}  // namespace trireme::train
