// SPDX-License-Identifier: Apache-2.0
// The team that a worker trains in, the strategy that it follows there, and how they divide the work.
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <memory>
#include <vector>

#include "trireme/comm/peer_wait.h"
#include "trireme/train/team/strategy.h"
#include "trireme/train/team/team.h"

namespace trireme::train {

struct WorkGroup {
  Team team = Team::alone();
  std::any kept;                       // by the strategy of one generation for that of the next
  std::unique_ptr<Strategy> strategy;  // null: no team was entered
  std::vector<double> shares;          // of a batch, by rank; by lease: 1 of each node that computes, 0 of the others
  std::int64_t last_generation = 0;    // that this worker was in

  void leave() {
    strategy.reset();  // it works with the team
    team = Team::alone();
  }
  std::int64_t workers() const {
    return std::ranges::count_if(shares, [](double share) { return share > 0; });
  }
  comm::PeerWait* peer_wait() const { return team.neighbours().waits.get(); }
  int missed_peer() const {
    const int beside = strategy != nullptr ? strategy->missed_peer() : -1;
    return beside >= 0 ? beside : team.missed_peer();
  }
};

}  // namespace trireme::train
