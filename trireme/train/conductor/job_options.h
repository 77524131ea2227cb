// SPDX-License-Identifier: Apache-2.0
// What the conductor's decisions depend on: which nodes a job has, how many it needs, and how long they are waited for.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/train/job/policies.h"

namespace trireme::train {

struct JobOptions {
  std::vector<std::string> nodes;     // names of those that take part, in order of ranks
  int min_nodes = 1;                  // with fewer the training is not continued
  int start_nodes = 0;                // with fewer it does not begin; 0: with all
  int max_nodes = 0;                  // at a time; 0: all that join
  int restarts = 3;                   // of a node, in a row, without progress
  std::set<std::string> startable;    // nodes that can be started from here
  std::uint64_t last_generation = 0;  // of the run so far
  Plan plan;
  bool takes_over = false;  // nodes of a coordinator that died may still be there
  double checkpoint_seconds = 60;
  Seconds start_timeout{120};
  Seconds stuck{30};   // a member that does not move for so long while others wait for it is left out (see StallWatch)
  Seconds silence{5};  // after which the coordinator declares a node lost
  Policies policies;
};

}  // namespace trireme::train
